"""Arrays of numbers, images and vectors, as NumPy and what builds on it saves them."""

import io

import numpy as np

from tests.data.sets.made import (
    CODE_NAMES,
    CODES,
    LENGTHS,
    NAMES,
    PARTS,
    PIXELS,
    SITES,
    TEXTS,
    TRUE_NAMES,
    WIDTHS,
    Data,
    N,
    Refused,
    layout,
    npz,
    packed,
)

X = np.column_stack([LENGTHS, WIDTHS])
MASKS = {part: np.array([each == part for each in PARTS]) for part in ("train", "validation", "test")}
TRAIN_TEST = tuple("train" if row < 45 else "test" for row in range(N))
IMAGES = Data("image", CODE_NAMES, 1)
CODED = Data(labels=CODE_NAMES)


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def halves(x: str, y: str, *, inputs=X, labels=CODES, more=None) -> bytes:
    """Arrays of the first 45 and the last 15 samples, called by patterns of the part."""
    named = {}
    for part, rows in (("train", slice(45)), ("test", slice(45, N))):
        named |= {x.format(part): inputs[rows], y.format(part): np.asarray(labels)[rows]}
    return npz(**named, **(more or {}))


LAYOUTS = [
    layout("NumPy 2.1", "savez of X and y", "f.npz", npz(X=X, y=CODES), CODED),
    layout(
        "NumPy 2.1",
        "savez of X, y and groups",
        "f.npz",
        npz(X=X, y=CODES, groups=SITES),
        Data(labels=CODE_NAMES, n_sources=6),
    ),
    layout("NumPy 2.1", "savez of data and labels", "f.npz", npz(data=X, labels=CODES), CODED),
    layout("NumPy 2.1", "savez of features and labels", "f.npz", npz(features=X, labels=TRUE_NAMES), Data()),
    layout("NumPy 2.1", "savez without names", "f.npz", npz(arr_0=X, arr_1=CODES), Refused("no key 'x'")),
    layout("NumPy 2.1", "save of one array", "x.npy", npy(X), Refused("cannot be read. Give one that ends in")),
    layout(
        "NumPy 2.1", "X_train to y_test", "f.npz", halves("X_{}", "y_{}"), Data(labels=CODE_NAMES, parts=TRAIN_TEST)
    ),
    layout("NumPy 2.1", "Xtrain to ytest", "f.npz", halves("X{}", "y{}"), Data(labels=CODE_NAMES, parts=TRAIN_TEST)),
    layout("NumPy 2.1", "trainX to testy", "f.npz", halves("{}X", "{}y"), Data(labels=CODE_NAMES, parts=TRAIN_TEST)),
    layout(
        "NumPy 2.1",
        "parts beside names of classes and of features",
        "f.npz",
        halves("X_{}", "y_{}", more={"classes": NAMES, "feature_names": ["length", "width"]}),
        Data(parts=TRAIN_TEST),
    ),
    layout("NumPy 2.1", "a training part alone", "f.npz", npz(X_train=X, y_train=CODES), CODED),
    layout("NumPy 2.1", "a test part without labels", "f.npz", npz(X_train=X, y_train=CODES, X_test=X), CODED),
    layout(
        "NumPy 2.1",
        "X, y and an array of parts",
        "f.npz",
        npz(X=X, y=CODES, split=PARTS),
        Data(labels=CODE_NAMES, parts=tuple(PARTS)),
    ),
    layout("NumPy 2.1", "one-hot labels", "f.npz", npz(X=X, y=np.eye(3)[CODES]), Refused("y.argmax\\(1\\)")),
    layout(
        "scikit-learn 1.5",
        "a Bunch of numbers",
        "f.npz",
        npz(data=X, target=CODES, target_names=NAMES, feature_names=["length", "width"]),
        Data(),
    ),
    layout(
        "scikit-learn 1.5",
        "a Bunch of digits: images beside data",
        "f.npz",
        npz(data=PIXELS.reshape(N, -1) // 16, images=PIXELS // 16, target=CODES),
        IMAGES,
    ),
    layout(
        "SciPy 1.14",
        "save_npz of a sparse matrix",
        "f.npz",
        npz(indices=np.arange(5), indptr=np.arange(6), format=b"csr", shape=[5, 5], data=np.ones(5)),
        Refused("no key 'y'|no key 'x'"),
    ),
    layout(
        "Keras 3",
        "mnist.npz",
        "mnist.npz",
        halves("x_{}", "y_{}", inputs=PIXELS),
        Data("image", CODE_NAMES, 1, parts=TRAIN_TEST),
    ),
    layout(
        "Keras 3",
        "imdb.npz: lists of word numbers",
        "imdb.npz",
        npz(x_train=np.array([[1, 2], [3]], dtype=object), y_train=[0, 1]),
        Refused("Python objects"),
    ),
    layout(
        "Keras 3",
        "colour images with labels of shape (n, 1)",
        "cifar.npz",
        halves("x_{}", "y_{}", inputs=np.repeat(PIXELS[..., None], 3, 3), labels=CODES[:, None]),
        Data("image", CODE_NAMES, 3, parts=TRAIN_TEST),
    ),
    layout(
        "MedMNIST 3.0",
        "train_images to test_labels",
        "bloodmnist.npz",
        npz(
            **{
                f"{short}_{what}": array[MASKS[part]]
                for short, part in (("train", "train"), ("val", "validation"), ("test", "test"))
                for what, array in (("images", PIXELS), ("labels", CODES[:, None]))
            }
        ),
        Data("image", CODE_NAMES, 1, parts=tuple(PARTS)),
    ),
    layout("KMNIST", "one array a file", "kmnist-train-imgs.npz", npz(arr_0=PIXELS), Refused("no key 'x'")),
    layout(
        "PyTorch 2.4",
        "channels first",
        "f.npz",
        npz(images=PIXELS[:, None].repeat(3, 1), labels=CODES),
        Refused("x.transpose\\(0, 2, 3, 1\\)"),
    ),
    layout("PyTorch 2.4", "torch.save", "f.pt", b"PK", Refused("cannot be read. Give one that ends in")),
    layout(
        "PyTorch Geometric 2.6",
        "masks of a graph's nodes",
        "nodes.npz",
        npz(x=X, y=CODES, train_mask=MASKS["train"], val_mask=MASKS["validation"], test_mask=MASKS["test"]),
        Data(labels=CODE_NAMES, parts=tuple(PARTS)),
    ),
    layout(
        "sentence-transformers 3.1",
        "embeddings and labels",
        "emb.npz",
        npz(embeddings=X.astype(np.float32), labels=TRUE_NAMES),
        Data(),
    ),
    layout(
        "tslearn 0.6",
        "time series of two channels",
        "series.npz",
        npz(X=np.random.default_rng(0).normal(size=(N, 20, 2)), y=CODES),
        Refused("pixel|image"),
    ),
    layout("TensorFlow 2.17", "TFRecord", "f.tfrecord", b"\x00", Refused("cannot be read. Give one that ends in")),
    layout("WebDataset 0.2", "a tar of samples", "f.tar", b"\x00", Refused("cannot be read. Give one that ends in")),
    layout("NumPy 2.1", "texts and labels", "f.npz", npz(texts=TEXTS, labels=TRUE_NAMES), Data("text", width=1)),
    layout(
        "NumPy 2.1",
        "arrays in a zip of NPY files",
        "f.zip",
        packed({"x.npy": npy(X), "y.npy": npy(CODES)}),
        Refused("image"),
    ),
]
