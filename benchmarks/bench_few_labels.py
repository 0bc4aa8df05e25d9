"""What do few labels tell, and which samples hold the errors? On real models, data sets and prediction files.

Prints two tables; asserts nothing; needs ``../shared/data``. First: the accuracy of a pool from 50, 100 and 300 labels,
in how many of 4,000 draws the interval held it, and how many labels at random would be as good (Wilson's interval with
the finite-population correction). Then the same from so many that little of the pool is left to guess.
Confidences are calibrated on labelled samples beside the pool, which in shifted pools are of another kind. Second: how
many errors the first 50 and 200 samples of a list hold, over ten seeds.
"""

import os
import platform
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import ndimage
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.neural_network import MLPClassifier

from touchstone.core.evaluate.guided_tests.few_labels import design_labels, expected_errors, labelled_accuracy, unlike
from touchstone.core.evaluate.intervals import wilson

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
N_LABELS, N_REPEATS = (50, 100, 300), 4000
MOST = (0.5, 0.9, 0.97)  # of a pool
LISTS, N_LISTED, N_SEEDS = ("least confidence", "smallest margin", "random"), (50, 200), 10


@dataclass(frozen=True)
class Pool:
    """Confidences and errors of a pool, and of the labelled samples that calibrate its confidences."""

    name: str
    known_confidence: np.ndarray
    known_wrong: np.ndarray
    confidence: np.ndarray
    wrong: np.ndarray


def judged(model, x, y) -> tuple[np.ndarray, np.ndarray]:
    proba = model.predict_proba(x)
    return proba.max(axis=1), model.classes_[proba.argmax(axis=1)] != np.asarray(y)


def judged_pool(name, model, known, pool) -> Pool:
    return Pool(name, *judged(model, *known), *judged(model, *pool))


def mlp(x, y, *, width=100, epochs=12):
    return MLPClassifier((width,), max_iter=epochs, random_state=0).fit(x, y)


@cache
def mnist() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    with np.load(DATA / "mnist.npz") as file:
        x, x_test = (file[f"x_{part}"].reshape(-1, 784) / np.float32(255) for part in ("train", "test"))
        return x, file["y_train"], x_test, file["y_test"]


def digits() -> tuple[np.ndarray, np.ndarray]:
    x, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return x[order] / 16, y[order]


@cache
def texts(name: str) -> tuple[np.ndarray, pd.DataFrame]:
    if name == "sst2":
        table = pd.read_csv(DATA / "sst2_train.tsv", sep="\t", keep_default_na=False)
        table = table.assign(text=table["sentence"])
    else:
        table = pd.read_parquet(DATA / "newsgroups20_train.parquet")
        table = table.assign(text=table["subject"] + " " + table["body"])
    table = table.sample(frac=1, random_state=0)
    return table["text"].to_numpy(), table


def vectors(train, *others, **options):
    vectorizer = TfidfVectorizer(min_df=2, **options)
    return vectorizer.fit_transform(train), *(vectorizer.transform(other) for other in others)


def semeion() -> tuple[np.ndarray, np.ndarray]:
    """16 x 16 strokes, drawn as large as MNIST's: 20 x 20 within a frame."""
    with np.load(DATA / "semeion.npz") as file:
        x, y = file["x"].astype(np.float32), file["y"]
    x = ndimage.zoom(x, (1, 1.25, 1.25), order=1)
    return np.pad(x, ((0, 0), (4, 4), (4, 4))).reshape(len(x), -1), y


def pools() -> Iterator[Pool]:
    """Pools as their confidences were calibrated on, then shifted ones, then those whose errors are all confident."""
    x, y = digits()
    known, rest = (x[450:850], y[450:850]), (x[850:], y[850:])
    yield judged_pool("digits, logistic", LogisticRegression(max_iter=300).fit(x[:450], y[:450]), known, rest)
    yield judged_pool("digits, MLP on 200", mlp(x[:200], y[:200], width=32, epochs=400), known, rest)
    x, y, x_test, y_test = mnist()
    known, rest = (x_test[:2000], y_test[:2000]), (x_test[2000:], y_test[2000:])
    small = mlp(x[:8000], y[:8000])
    usual = judged_pool("MNIST, MLP on 8,000", small, known, rest)
    yield usual
    drawn = np.random.default_rng(0).permutation(len(y))
    linear = LogisticRegression(max_iter=60).fit(x[drawn[:4000]], y[drawn[:4000]])
    held, many = drawn[4000:6000], drawn[6000:26000]
    yield judged_pool("MNIST, logistic on 4,000", linear, (x[held], y[held]), (x[many], y[many]))
    most, held, many = drawn[:40000], drawn[40000:42000], drawn[42000:]
    yield judged_pool("MNIST, MLP on 40,000", mlp(x[most], y[most]), (x[held], y[held]), (x[many], y[many]))
    text, table = texts("sst2")
    label = table["label"].to_numpy()
    dev = pd.read_csv(DATA / "sst2_dev.tsv", sep="\t", keep_default_na=False)
    of = vectors(text[:20000], text[20000:22000], text[22000:42000], dev["sentence"], ngram_range=(1, 2))
    model = LogisticRegression(max_iter=300, C=10).fit(of[0], label[:20000])
    known = (of[1], label[20000:22000])
    yield judged_pool("SST-2, words", model, known, (of[2], label[22000:42000]))
    sentences = judged_pool("SST-2 phrases to sentences (shifted)", model, known, (of[3], dev["label"]))
    text, table = texts("newsgroups")
    of = vectors(text[:4000], text[4000:5500], text[5500:], sublinear_tf=True)
    for name, column, model in (
        ("20 newsgroups, words", "newsgroup", LogisticRegression(max_iter=200, C=20)),
        ("7 groups of them, naive Bayes", "top", MultinomialNB(alpha=0.05)),
    ):
        label = table[column].to_numpy()
        model.fit(of[0], label[:4000])
        yield judged_pool(name, model, (of[1], label[4000:5500]), (of[2], label[5500:]))
    yield from prediction_files()
    yield sentences
    yield judged_pool("MNIST to semeion (shifted)", small, (x_test[:2000], y_test[:2000]), semeion())
    turned = ndimage.rotate(x_test[2000:8000].reshape(-1, 28, 28), 20, axes=(1, 2), reshape=False, order=1)
    turned = (turned.reshape(len(turned), -1), y_test[2000:8000])
    yield judged_pool("MNIST turned by 20° (shifted)", small, (x_test[:2000], y_test[:2000]), turned)
    with np.load(DATA / "mnist_sources.npz") as file:
        staff, pupils = (np.flatnonzero(file["hsf_train"] == series) for series in (0, 4))
    known = (x[staff[8000:10000]], y[staff[8000:10000]])
    of_staff = mlp(x[staff[:8000]], y[staff[:8000]])
    yield judged_pool("MNIST staff to pupils (shifted)", of_staff, known, (x[pupils], y[pupils]))
    yield vowels()
    for share in (0.01, 0.05, 0.2):
        wrong = np.zeros(len(usual.confidence), dtype=bool)
        wrong[np.argsort(-usual.confidence)[: int(share * len(wrong))]] = True
        name = f"only the most confident {100 * share:.0f} % wrong"
        yield Pool(name, usual.known_confidence, usual.known_wrong, usual.confidence, wrong)


def prediction_files() -> Iterator[Pool]:
    """Files of predictions as somebody wrote them; the last is one spam model on another language."""
    with np.load(DATA / "predictions" / "netcal_lenet5_cifar10_softmax.npz") as file:
        proba, label = file["predictions"], file["ground_truth"]
    confidence, wrong = proba.max(axis=1), proba.argmax(axis=1) != label
    yield Pool("CIFAR-10, LeNet", confidence[:2000], wrong[:2000], confidence[2000:], wrong[2000:])
    birds = pd.read_csv(DATA / "predictions" / "cagedbird__validation_predictions14.csv")
    confidence = birds["Confidence Score"].to_numpy(dtype=np.float64)
    wrong = (birds["True Label"] != birds["Predicted Label"]).to_numpy()
    order = np.random.default_rng(0).permutation(len(wrong))
    held, rest = order[:310], order[310:]
    yield Pool("caged birds", confidence[held], wrong[held], confidence[rest], wrong[rest])
    spam, hindi = (spam_file(name) for name in ("spam__preds.tsv", "spam__hindi_preds.tsv"))
    order = np.random.default_rng(0).permutation(len(spam[0]))
    held, rest = order[:3000], order[3000:]
    yield Pool("spam", spam[0][held], spam[1][held], spam[0][rest], spam[1][rest])
    yield Pool("spam to Hindi (shifted)", *spam, *hindi)


def spam_file(name: str) -> tuple[np.ndarray, np.ndarray]:
    table = pd.read_csv(DATA / "predictions" / name, sep="\t")
    return table["prob"].to_numpy(), (table["predicted"].str[-1].astype(int) != table["target"]).to_numpy()


def vowels() -> Pool:
    table = pd.read_csv(DATA / "vowel_speakers.tsv", sep="\t")
    x = table[[f"x{i}" for i in range(1, 11)]].to_numpy()
    fitted, held, new = (table["speaker"].between(*ends).to_numpy() for ends in ((0, 5), (6, 7), (8, 14)))
    x = (x - x[fitted].mean(axis=0)) / x[fitted].std(axis=0)
    y = table["vowel"].to_numpy()
    model = mlp(x[fitted], y[fitted], width=30, epochs=500)
    return judged_pool("vowels of other speakers (shifted)", model, (x[held], y[held]), (x[new], y[new]))


def coverage(pool: Pool, n_labels: int, rng: np.random.Generator) -> str:
    """In how many draws the interval held the accuracy of the pool, its length, and what random labelling needs."""
    expected = expected_errors(pool.confidence, pool.known_confidence, pool.known_wrong)
    doubt = unlike(pool.confidence, pool.known_confidence)
    design = design_labels(pool.confidence, expected, n_labels=n_labels, doubt=doubt)
    n_wrong = np.bincount(design.stratum, pool.wrong).astype(np.int64)
    drawn = [
        rng.hypergeometric(wrong, n - wrong, of, size=N_REPEATS)
        for wrong, n, of in zip(n_wrong, design.n_in, design.n_drawn, strict=True)
    ]
    told = [labelled_accuracy(row, design.n_drawn, design.n_in).interval for row in np.transpose(drawn)]
    total, n_pool = int(pool.wrong.sum()), len(pool.wrong)
    at_random = rng.hypergeometric(total, n_pool - total, n_labels, size=N_REPEATS)
    finite = (n_pool - 1) / (n_pool - n_labels)
    usual = [wilson(finite * float(n_labels - wrong), finite * n_labels) for wrong in at_random]
    truth = 1 - total / n_pool
    width, usual_width = (np.mean([interval.width for interval in each]) for each in (told, usual))
    held, usual_held = (np.mean([interval.holds(truth) for interval in each]) for each in (told, usual))
    saved = (usual_width / width) ** 2
    return f"{held:.3f} {usual_held:.3f} {100 * width / 2:5.1f} {100 * design.half_width:5.1f} {saved:5.2f}"


def lists() -> Iterator[tuple[str, int, np.ndarray, np.ndarray]]:
    """Name, seed and the probabilities with the errors of a model on a pool that it has not seen."""
    for seed in range(N_SEEDS):
        rng = np.random.default_rng(seed)
        x, y = digits()
        yield "digits", seed, *of_fit(LogisticRegression(max_iter=300), x, y, 300, rng)
        x, y, *_ = mnist()
        few = rng.permutation(len(y))[:12000]
        yield "MNIST subset", seed, *of_fit(MLPClassifier((100,), max_iter=10), x[few], y[few], 5000, rng)
        for name, column in (("sst2", "label"), ("newsgroups", "newsgroup")):
            text, table = texts(name)
            few = rng.permutation(len(text))[:9000]
            train, rest = vectors(text[few[:4000]], text[few[4000:]])
            label = table[column].to_numpy()
            model = LogisticRegression(max_iter=200, C=10).fit(train, label[few[:4000]])
            yield name, seed, *of_model(model, rest, label[few[4000:]])


def of_fit(model, x, y, n_train, rng) -> tuple[np.ndarray, np.ndarray]:
    order = rng.permutation(len(y))
    model.fit(x[order[:n_train]], y[order[:n_train]])
    return of_model(model, x[order[n_train:]], y[order[n_train:]])


def of_model(model, x, y) -> tuple[np.ndarray, np.ndarray]:
    proba = model.predict_proba(x)
    return proba, model.classes_[proba.argmax(axis=1)] != y


def listed(proba: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    two = np.sort(proba, axis=1)[:, -2:]
    return {
        "least confidence": np.argsort(two[:, 1], kind="stable"),
        "smallest margin": np.argsort(two[:, 1] - two[:, 0], kind="stable"),
        "random": rng.permutation(len(proba)),
    }


def main() -> None:
    print(f"# Labels, {date.today()}, {platform.machine()}, {os.cpu_count()} processors\n")
    begin, rng = time.perf_counter(), np.random.default_rng(0)
    for pool in pools():
        print(f"{pool.name}: {len(pool.wrong):,} samples, accuracy {100 * (1 - pool.wrong.mean()):.1f} %")
        for n_labels in N_LABELS:
            if n_labels <= len(pool.wrong):
                print(f"    {n_labels:4} labels: held, at random, ±points, ±foretold, worth  ", end="")
                print(coverage(pool, n_labels, rng), flush=True)
        for share in MOST:
            print(f"    {share:4.0%} of it:  held, at random, ±points, ±foretold, worth  ", end="")
            print(coverage(pool, int(share * len(pool.wrong)), rng), flush=True)
    print(f"\nErrors among the first {' and '.join(map(str, N_LISTED))}, mean of {N_SEEDS} seeds, its standard error")
    found: dict[tuple[str, str, int], list[int]] = {}
    for name, seed, proba, wrong in lists():
        for of, order in listed(proba, np.random.default_rng(seed)).items():
            for n in N_LISTED:
                found.setdefault((name, of, n), []).append(int(wrong[order[:n]].sum()))
    for (name, of, n), errors in found.items():
        print(f"{name:14} {of:18} {n:4}: {np.mean(errors):6.1f} ± {np.std(errors, ddof=1) / np.sqrt(len(errors)):.1f}")
    print(f"\n{time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
