"""How do time and memory grow with size? One curve for each engine, beside a peer where one is installed.

`python -m benchmarks.bench_scale [ENGINE ...] [--scale 1]` prints a table for each, with exponents (the slope of
logarithms over the three largest sizes), and `--svg FOLDER` draws each. Every size runs in a process of its own with
one thread: seconds of the processor and the most memory beyond what was held before. An engine stops at the first size
that takes longer than `--seconds`; what was not run is named. `--scale 10` makes all sizes ten times larger.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np

from benchmarks.scale_pages import Work, page, page_of_data, page_of_folds

ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
N_LABELS = 10
OURS, PEERS = "#1B5FAA", "#C8501C"


def clouds(n: int, n_features: int = 50, n_labels: int = N_LABELS) -> tuple[np.ndarray, np.ndarray]:
    """Features of overlapping classes, and their labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(n_labels, size=n)
    return rng.normal(size=(n_labels, n_features))[y] + rng.normal(size=(n, n_features)), y


def sds(n: int, *, peer: bool, n_clusters: int = 10) -> Work:
    from sklearn.cluster import KMeans

    from touchstone.core.cluster.sds import SDSKMeans

    x, y = clouds(n)
    SDSKMeans(3, n_init=1, random_state=0).fit(x[:300], y[:300])
    if peer:
        return lambda: KMeans(n_clusters, n_init=1, random_state=0).fit(x)
    return lambda: SDSKMeans(n_clusters, n_init=1, random_state=0).fit(x, y)


def same_size(n: int, *, peer: bool, n_clusters: int = 10) -> Work:
    from touchstone.core.cluster.sds import SameSizeKMeans

    x, y = clouds(n)
    if peer:
        from k_means_constrained import KMeansConstrained

        sizes = {"size_min": n // n_clusters, "size_max": -(-n // n_clusters)}
        return lambda: KMeansConstrained(n_clusters, **sizes, n_init=1, random_state=0, n_jobs=1).fit(x)
    SameSizeKMeans(3, n_init=1, random_state=0).fit(x[:300], y[:300])
    return lambda: SameSizeKMeans(n_clusters, n_init=1, random_state=0).fit(x, y)


def matching(n: int, *, peer: bool, sorted_before: bool = False) -> Work:
    from touchstone.core.evaluate.matched_subsets import Outcomes
    from touchstone.core.evaluate.matched_subsets.loops import KERNELS
    from touchstone.core.evaluate.matched_subsets.matching import candidates, matchings

    import_module(KERNELS)  # from now on compiled loops run for sets of any size
    rng = np.random.default_rng(0)

    def made(size: int) -> Outcomes:
        confidence = 0.1 + 0.9 * rng.beta(4, 1, size)
        names = tuple(map(str, range(N_LABELS)))
        return Outcomes(rng.integers(N_LABELS, size=size), confidence, rng.random(size) < confidence, names)

    small = candidates(made(200), made(100), epsilon=0.005)
    next(matchings(small, 1, method="random", rng=rng))
    reference, target = made(10 * n), made(n)
    if peer:
        return lambda: (np.sort(reference.confidence), np.sort(target.confidence))
    if sorted_before:
        pairable = candidates(reference, target, epsilon=0.005)
        return lambda: next(matchings(pairable, 1, method="random", rng=rng))
    return lambda: next(matchings(candidates(reference, target, epsilon=0.005), 1, method="random", rng=rng))


def normal_cdf(n: int, *, peer: bool) -> Work:
    """A vector of n classes, whose covariance has full rank: eight of them, and one by the peer."""
    from scipy.stats import multivariate_normal

    from touchstone.core.evaluate.average_case import mvn_cdf

    rng = np.random.default_rng(0)
    factors = rng.normal(size=(8, n, n)) / np.sqrt(n)
    cov = factors @ factors.transpose(0, 2, 1) + 0.5 * np.ones((n, n)) + 0.2 * np.eye(n)
    z = rng.normal(2.5, 0.5, size=(8, n))
    mvn_cdf(np.ones((1, 4)), np.eye(4)[None] + 0.5)
    if peer:
        options = {"abseps": 1e-3, "releps": 0, "maxpts": 10_000}
        return lambda: [multivariate_normal.cdf(z[at], cov=cov[at], **options) for at in range(8)]
    return lambda: mvn_cdf(z, cov)


def dimensions(n: int, *, peer: bool, n_features: int = 128, n_labels: int = N_LABELS) -> Work:
    """As many training samples as test samples. Made by blocks: at the largest sizes no second copy finds room."""
    from sklearn.neighbors import NearestCentroid

    from touchstone.core.evaluate.test_quality.quality import measure_quality
    from touchstone.core.models.layers import LayerSamples

    rng = np.random.default_rng(0)
    centres = rng.normal(size=(n_labels, n_features)).astype(np.float32)
    x, y = rng.standard_normal((2 * n, n_features), dtype=np.float32), rng.integers(n_labels, size=2 * n)
    for at in range(0, 2 * n, 10_000):
        x[at : at + 10_000] += centres[y[at : at + 10_000]]
    if peer:
        return lambda: NearestCentroid().fit(x[:n], y[:n]).predict(x[n:])
    proba = np.empty((2 * n, n_labels), dtype=np.float32)
    for at in range(0, 2 * n, 10_000):
        rows = slice(at, at + 10_000)
        logits = x[rows] @ centres.T - np.square(centres).sum(axis=1) / 2
        raised = np.exp(logits - logits.max(axis=1, keepdims=True))
        proba[rows] = raised / raised.sum(axis=1, keepdims=True)
    x.flags.writeable = proba.flags.writeable = False  # so that samples share them
    names = tuple(map(str, range(n_labels)))
    train, test = (LayerSamples(x[rows], y[rows], proba[rows], names) for rows in (slice(n), slice(n, None)))
    return lambda: measure_quality(train, test, rng=np.random.default_rng(0))


def tables(n: int, *, peer: bool) -> Work:
    import pandas as pd

    from touchstone.core.data.tables.datasets import read_dataset

    file = a_table(n)
    return (lambda: pd.read_csv(file)) if peer else (lambda: read_dataset(file))


def a_table(n: int) -> Path:
    import pandas as pd

    file = Path(tempfile.mkdtemp()) / "table.csv"
    x, y = clouds(n, 10)
    pd.DataFrame(x, columns=[f"x{at}" for at in range(10)]).round(4).assign(label=y).to_csv(file, index=False)
    return file


def texts(n: int, *, peer: bool) -> Work:
    import pandas as pd

    from touchstone.core.data.tables.datasets import read_dataset

    file = some_texts(n)
    return (lambda: pd.read_csv(file, sep="\t")) if peer else (lambda: read_dataset(file))


def some_texts(n: int) -> Path:
    file = Path(tempfile.mkdtemp()) / "texts.tsv"
    rng = np.random.default_rng(0)
    words = np.array([f"word{at}" for at in range(20_000)])
    with file.open("w") as lines:
        lines.write("text\tlabel\n")
        for sentence, label in zip(rng.zipf(1.3, size=(n, 12)) % len(words), rng.integers(2, size=n), strict=True):
            lines.write(f"{' '.join(words[sentence])}\t{('low', 'high')[label]}\n")
    return file


@dataclass(frozen=True)
class Engine:
    """What grows: what one step of size is, the peer's name ("": none), the sizes at scale 1."""

    work: Callable[..., Work]
    size: str
    peer: str
    sizes: tuple[int, ...]


CLUSTERED, ROWS = "samples of 50 features, {} clusters", "targets, ten times the references"
KMEANS, CONSTRAINED = "scikit-learn's KMeans (no shares)", "k-means-constrained"
THOUSANDS, ROW_SIZES = (1000, 10_000, 100_000, 1_000_000), (10_000, 100_000, 1_000_000)
MATCHED = (1000, 10_000, 100_000, 300_000, 1_000_000)
ENGINES = {
    "sds": Engine(sds, CLUSTERED.format(10), KMEANS, THOUSANDS),
    "sds-100": Engine(partial(sds, n_clusters=100), CLUSTERED.format(100), KMEANS, THOUSANDS),
    "same-size": Engine(same_size, CLUSTERED.format(10), CONSTRAINED, THOUSANDS),
    "same-size-100": Engine(partial(same_size, n_clusters=100), CLUSTERED.format(100), CONSTRAINED, THOUSANDS),
    "matching": Engine(matching, ROWS, "numpy's sort", MATCHED),
    "repeat": Engine(partial(matching, sorted_before=True), f"{ROWS}, sorted before", "numpy's sort", MATCHED),
    "normal-cdf": Engine(
        normal_cdf, "classes, full rank, 8 vectors", "scipy (at most 10,000 points)", (10, 30, 100, 200)
    ),
    "dimensions": Engine(
        dimensions, "test samples of 128 features, 10 classes", "NearestCentroid (fit, predict)", THOUSANDS
    ),
    "dimensions-1000": Engine(
        partial(dimensions, n_features=512, n_labels=1000),
        "test samples of 512 features, 1,000 classes",
        "NearestCentroid (fit, predict)",
        (10_000, 100_000, 1_000_000),
    ),
    "tables": Engine(tables, "rows of a CSV of 11 columns", "pandas", ROW_SIZES),
    "page": Engine(page, "predictions, beside a tenth of as many: first sight", "", THOUSANDS),
    "page-again": Engine(partial(page, again=True), "predictions, seen before", "", THOUSANDS),
    "page-table": Engine(
        partial(page_of_data, made=a_table, stem="data_sets"), "rows of a table: its page, first sight", "", ROW_SIZES
    ),
    "page-texts": Engine(
        partial(page_of_data, made=some_texts, stem="data_sets"), "texts: their page, first sight", "", ROW_SIZES
    ),
    "page-table-again": Engine(
        partial(page_of_data, made=a_table, stem="data_sets", again=True),
        "rows of a table: its page, seen before",
        "",
        ROW_SIZES,
    ),
    "page-folds": Engine(partial(page_of_folds, made=a_table), "rows of a table: folds, first sight", "", ROW_SIZES),
    "page-folds-again": Engine(
        partial(page_of_folds, made=a_table, again=True), "rows of a table: folds, seen before", "", ROW_SIZES
    ),
    "texts": Engine(texts, "rows of a TSV of texts and labels", "pandas", ROW_SIZES),
}


def once(name: str, n: int, *, peer: bool) -> None:
    """Run in a process of its own; prints what it took as JSON."""
    work = ENGINES[name].work(n, peer=peer)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before, start = _memory("VmRSS"), time.process_time()
    work()
    print(json.dumps({"seconds": time.process_time() - start, "mib": _memory("VmHWM") - before}))


def _memory(field: str) -> float:
    return int(Path("/proc/self/status").read_text().split(f"{field}:")[1].split()[0]) / 1024


def measured(name: str, n: int, *, peer: bool, limit: float) -> dict[str, float] | None:
    """What one size took; None where it fails or takes far longer than the limit."""
    command = [sys.executable, "-m", "benchmarks.bench_scale", name, "--once", str(n), *(["--peer"] if peer else [])]
    try:
        done = subprocess.run(
            command, env=os.environ | ONE_THREAD, capture_output=True, text=True, check=True, timeout=10 * limit + 60
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as problem:
        print(f"{name} {n:,}: {getattr(problem, 'stderr', '') or problem}"[-300:], file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def curve(name: str, sizes: list[int], limit: float, *, peer: bool) -> dict[int, dict[str, float]]:
    points: dict[int, dict[str, float]] = {}
    for n in sizes:
        point = measured(name, n, peer=peer, limit=limit)
        if point is None:
            break
        points[n] = point
        if point["seconds"] > limit:
            break
    return points


def exponent(points: dict[int, dict[str, float]], what: str) -> str:
    """The slope of logarithms over the three largest sizes."""
    last = list(points.items())[-3:]
    values = [max(point[what], 1e-3) for _, point in last]
    return f"{np.polyfit(np.log([n for n, _ in last]), np.log(values), 1)[0]:.2f}" if len(last) > 1 else "-"


def svg(title: str, curves: dict[str, dict[int, float]]) -> str:
    """A drawing of seconds against size, both as logarithms: a line for each curve."""
    width, height, left, top, right, bottom = 520, 300, 60, 16, 150, 44
    x = np.log10([n for points in curves.values() for n in points])
    y = np.log10([max(value, 1e-3) for points in curves.values() for value in points.values()])
    x0, x1, y0, y1 = x.min(), max(x.max(), x.min() + 1e-9), np.floor(y.min()), np.ceil(y.max() + 1e-9)

    def place(n: float, value: float) -> tuple[float, float]:
        across = (np.log10(n) - x0) / (x1 - x0) * (width - left - right)
        up = (np.log10(max(value, 1e-3)) - y0) / (y1 - y0) * (height - top - bottom)
        return round(left + across, 1), round(height - bottom - up, 1)

    font = 'font-family="sans-serif" font-size="11"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {font}>']
    parts += [f"<title>{title}</title>", f'<rect width="{width}" height="{height}" fill="#fff"/>']
    for power in range(int(y0), int(y1) + 1):
        _, at = place(10**x0, 10.0**power)
        parts.append(f'<line x1="{left}" x2="{width - right}" y1="{at}" y2="{at}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 6}" y="{at + 4}" text-anchor="end" fill="#444">{10.0**power:g} s</text>')
    for n in sorted({n for points in curves.values() for n in points}):
        at, _ = place(n, 1.0)
        parts.append(f'<text x="{at}" y="{height - bottom + 16}" text-anchor="middle" fill="#444">{n:,}</text>')
    for (name, points), colour, dash in zip(curves.items(), (OURS, PEERS), ("", "5 4"), strict=False):
        placed = [place(n, value) for n, value in points.items()]
        line = " ".join(f"{a},{b}" for a, b in placed)
        stroke = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"'
        parts.append(f'<polyline points="{line}" fill="none" {stroke}/>')
        parts += [f'<circle cx="{a}" cy="{b}" r="3" fill="{colour}"/>' for a, b in placed]
        parts.append(f'<text x="{placed[-1][0] + 8}" y="{placed[-1][1] + 4}" fill="{colour}">{name}</text>')
    parts.append(f'<text x="{left}" y="{height - 8}" fill="#444">{title}</text></svg>')
    return "\n".join(parts) + "\n"


def report(name: str, scale: float, limit: float, folder: Path | None) -> None:
    """Measure an engine and its peer at all sizes, print the table, draw the curves."""
    engine = ENGINES[name]
    sizes = [round(scale * n) for n in engine.sizes]
    ours, theirs = (curve(name, sizes, limit, peer=peer) if engine.peer or not peer else {} for peer in (False, True))
    print(f"\n## {name}: {engine.size}; beside {engine.peer or 'no peer'}; load {os.getloadavg()[0]:.1f}\n")
    print("| size | ours, s | peer, s | ours to peer | ours, MiB | peer, MiB |\n|---|---|---|---|---|---|")
    for n in sizes:
        if n not in ours:
            continue
        mine, other = ours[n], theirs.get(n)
        ratio = f"{mine['seconds'] / max(other['seconds'], 1e-4):.2f}" if other else ""
        peer = (f"{other['seconds']:.3f}", f"{other['mib']:.0f}") if other else ("not run" if engine.peer else "", "")
        print(f"| {n:,} | {mine['seconds']:.3f} | {peer[0]} | {ratio} | {mine['mib']:.0f} | {peer[1]} |")
    for what, title in {"seconds": "time", "mib": "memory"}.items():
        print(f"\nExponent of {title}: ours {exponent(ours, what)}, the peer's {exponent(theirs, what)}.", flush=True)
    left = [f"{n:,}" for n in sizes if n not in ours]
    if left:
        print(f"Not run, for the time it takes: {', '.join(left)}.", flush=True)
    if folder is not None and ours:
        folder.mkdir(parents=True, exist_ok=True)
        named = {"ours": ours, engine.peer.partition(" (")[0]: theirs}
        seconds = {who: {n: of["seconds"] for n, of in points.items()} for who, points in named.items() if points}
        (folder / f"{name}.svg").write_text(svg(f"Seconds of the processor against {engine.size}", seconds))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("engines", nargs="*", help=", ".join(ENGINES))
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--seconds", type=float, default=30.0)
    options.add_argument("--svg", type=Path)
    options.add_argument("--once", type=int, help="run one size in this process")
    options.add_argument("--peer", action="store_true")
    given = options.parse_args()
    if given.once:
        once(given.engines[0], given.once, peer=given.peer)
        return
    print(f"# Growth with size, {date.today()}, {platform.machine()}, {os.cpu_count()} cores")
    for name in given.engines or ENGINES:
        report(name, given.scale, given.seconds, given.svg)


if __name__ == "__main__":
    main()
