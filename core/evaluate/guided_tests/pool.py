"""Which samples without labels could be labelled next? Features with probabilities, or inputs to run the model on."""

import io
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np
import pandas as pd
from jaxtyping import Shaped

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.limits import Archive, Limits, opened
from touchstone.core.data.tables import Table
from touchstone.core.data.tables.files import read_table
from touchstone.core.evaluate.guided_tests.few_labels import LabelDesign, LabelledAccuracy, labelled_accuracy
from touchstone.core.models.layer_files import open_layer_file, read_layer_samples
from touchstone.core.models.layers import LayerSamples
from touchstone.core.models.training import one_torch_thread
from touchstone.core.trials.layer_parts import LayerParts

ENDINGS = (".npz", ".tsv", ".csv", ".jsonl", ".parquet")
_INPUTS = ("x", "images", "texts")
_IDS = ("ids", "id")
_FEATURES = {"features", "embeddings"}


def open_pool(file: io.BytesIO) -> object:
    """Read the arrays or columns in a file that `read_pool` takes, whatever they mean.

    Examples
    --------
    >>> file = io.BytesIO(b"text,id\\nGood.,1\\n")
    >>> file.name = "new.csv"
    >>> list(open_pool(file).columns)
    ['text', 'id']
    """
    if PurePath(file.name).suffix.lower() != ".npz":
        return read_table(file)
    archive = Archive(file.getvalue(), file.name, Limits())
    keys = _keys(archive)
    return open_layer_file(file) if keys.keys() & _FEATURES else _arrays(archive, keys, file.name)


def read_pool(content: bytes, name: str, *, parts: LayerParts, dataset: Dataset) -> LayerSamples:
    """Read a file of samples whose labels nobody knows as the layer of `parts` sees them.

    An NPZ file has "features" and "proba" (see `read_layer_samples`), or inputs like those of the data set as "x" or
    "images" (texts as "x" or "texts"), perhaps with "ids". A table has a column of texts, or the data set's columns,
    perhaps with "id"; where there is no model, features and probabilities as in `read_layer_samples`. Raises
    DataError, with what is expected, for anything else.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models.networks import LinearNetwork
    >>> from touchstone.core.models.stored import ModelFile
    >>> from touchstone.core.trials.layer_parts import layer_parts
    >>> wine, stream = load_example("wine"), io.BytesIO()
    >>> network = LinearNetwork(n_epochs=1).fit(wine.x, wine.y, seed=0).trained(wine)
    >>> parts = layer_parts(ModelFile(network.to_bytes(), "w.safetensors", wine.fingerprint).to_bytes(), wine)
    >>> np.savez(stream, x=wine.x[:5])
    >>> len(read_pool(stream.getvalue(), "new.npz", parts=parts, dataset=wine))
    5
    """
    ids: list[str] | None
    if PurePath(name).suffix.lower() == ".npz":
        archive = Archive(content, name, Limits())
        keys = _keys(archive)
        if keys.keys() & _FEATURES:
            return read_layer_samples(content, name, class_names=parts.test.class_names)
        x, ids = _arrays(archive, keys, name)
    elif parts.model is None:
        return read_layer_samples(content, name, class_names=parts.test.class_names)
    else:
        x, ids = _columns(read_table(opened(content, name)), dataset)
    if parts.model is None or parts.of is None:
        raise DataError(
            f"{name}: there is no model that these inputs could be given to, only features. Save 'features' and "
            "'proba' of the unlabelled samples as NPZ, as of the test part."
        )
    if getattr(parts.model, "words", None) is None and dataset.kind == "text":
        raise DataError(f"{name}: the model takes vectors, and no texts. Save 'features' and 'proba' as NPZ instead.")
    inputs = parts.model.inputs(_like(x, dataset, name))
    with one_torch_thread():
        return parts.of.samples(inputs, None, ids=ids, name=name)


def _keys(archive: Archive) -> dict[str, str]:
    """The arrays' places by their names."""
    return {path.removesuffix(".npy").lower(): path for path in archive.paths}


def _arrays(archive: Archive, keys: dict[str, str], name: str) -> tuple[np.ndarray, list[str] | None]:
    inputs = [key for key in _INPUTS if key in keys]
    if len(inputs) != 1:
        raise DataError(
            f"{name}: it holds {', '.join(keys) or 'no array'}. Save inputs as 'x', or 'features' with 'proba'."
        )
    named = next((key for key in _IDS if key in keys), None)
    ids = None if named is None else [str(cell) for cell in _array(archive, keys[named])]
    return _array(archive, keys[inputs[0]]), ids


def _array(archive: Archive, path: str) -> np.ndarray:
    try:
        return np.lib.format.read_array(io.BytesIO(archive.read(path)), allow_pickle=False)
    except Exception as error:  # a header from somebody else can make numpy raise nearly anything
        raise DataError(f"{archive.name}: {path} is no plain NumPy array. Save it again, without objects.") from error


def _columns(table: Table, dataset: Dataset) -> tuple[np.ndarray, list[str] | None]:
    named = next((column for column in table.columns if column.lower() in _IDS), None)
    ids = None if named is None else table.strings(named)
    if dataset.kind == "image":
        raise DataError(f"{table.name} is a table, but {dataset.name} holds images. Save them as 'images' in NPZ.")
    if dataset.kind == "text":
        columns = [column for column in table.columns if column != named]
        text = next((column for column in columns if column.lower() == "text"), columns[0] if columns else None)
        if text is None:
            raise DataError(f"{table.name}: there is no column of texts. Call it 'text'.")
        return np.array(table.texts(text), dtype=object), ids
    lacking = [column for column in dataset.feature_names if column not in table.columns]
    if lacking:
        raise DataError(f"{table.name}: there is no column {lacking[0]!r}, which {dataset.name} has.")
    return np.column_stack([table.numbers(column) for column in dataset.feature_names]), ids


def _like(x: Shaped[np.ndarray, "n ..."], dataset: Dataset, name: str) -> Shaped[np.ndarray, "n ..."]:
    """Inputs as the data set holds its own: pixels in [0, 1], of the same shape."""
    if dataset.kind == "text":
        return np.array([str(text) for text in x.ravel()], dtype=object)
    if x.dtype.kind not in "buif" or not np.isfinite(x).all():
        raise DataError(f"{name}: inputs must be finite numbers.")
    if dataset.kind == "image" and x.ndim == 3:
        x = x[..., None]
    if x.shape[1:] != dataset.x.shape[1:]:
        raise DataError(f"{name}: inputs are of shape {x.shape[1:]}, those of {dataset.name} {dataset.x.shape[1:]}.")
    if dataset.kind == "tabular":
        return x.astype(np.float64)
    pixels = x.astype(np.float32)
    if len(pixels) and pixels.max() > 1:
        pixels = pixels / np.float32(dataset.scale)
    if len(pixels) and not (pixels.min() >= 0 and pixels.max() <= 1):
        raise DataError(f"{name}: pixels must lie in [0, 1], or in 0 to {dataset.scale:g} as those of {dataset.name}.")
    return pixels


# Which samples go to the annotators, and what comes back? One table, that tells all that its labels are counted by.


_COLUMNS = ("id", "predicted", "confidence", "stratum", "stratum_size", "pool_size", "label")


@dataclass(frozen=True)
class LabelsBack:
    """What a labelled list holds: of each stratum how many samples are wrong, labelled, and there in all.

    `n_skipped` of its rows above the last label have none.
    """

    n_wrong: tuple[int, ...]
    n_labelled: tuple[int, ...]
    n_in: tuple[int, ...]
    n_skipped: int

    @property
    def accuracy(self) -> LabelledAccuracy:
        """What the labels tell of the whole pool; raises DataError where a stratum has none."""
        return labelled_accuracy(*(np.array(counts) for counts in (self.n_wrong, self.n_labelled, self.n_in)))


def to_label(pool: LayerSamples, design: LabelDesign, *, rng: np.random.Generator) -> pd.DataFrame:
    """The list to label, strata mixed: columns id, predicted, confidence, stratum (from 1), stratum_size, pool_size
    and label, which is empty.
    """
    rows = design.draw(rng)
    names = np.array(pool.class_names, dtype=object)
    stratum = design.stratum[rows]
    cells = (
        pool.ids[rows],
        names[pool.predicted[rows]],
        pool.confidence[rows],
        stratum + 1,
        design.n_in[stratum],
        np.full(len(rows), len(pool)),
        np.full(len(rows), "", dtype=object),
    )
    return pd.DataFrame(dict(zip(_COLUMNS, cells, strict=True)))


def read_labels(content: bytes, name: str, *, class_names: tuple[str, ...]) -> LabelsBack:
    """Count the labels of a list that came back; rows without a label are passed over.

    Raises DataError for anything but such a list, naming the row: a sample that stands twice, a label that is no class,
    sizes that contradict each other, a stratum without any label.

    Examples
    --------
    >>> head = "id,predicted,stratum,stratum_size,pool_size,label"
    >>> rows = [f"{i},cat,1,500,500,{'cat' if i else 'dog'}" for i in range(100)]
    >>> back = read_labels("\\n".join([head, *rows]).encode(), "labels.csv", class_names=("cat", "dog"))
    >>> back.accuracy.accuracy, back.accuracy.n_labels, back.accuracy.n_pool
    (0.99, 100, 500)
    """
    table = read_table(opened(content, name))
    lacking = [column for column in _COLUMNS if column not in table.columns and column != "confidence"]
    if lacking:
        raise DataError(
            f"{name}: there is no column {lacking[0]!r}. Fill in 'label' in the list that was downloaded here, and "
            "leave its other columns as they are."
        )
    labels = [_without_point(label, class_names) for label in table.spelled("label")]
    labelled = np.array([label is not None for label in labels])
    if not labelled.any():
        raise DataError(f"{name}: the column 'label' is empty. Write the true class of each sample into it.")
    _check_ids(table)
    _check_labels(table, labels, class_names)
    stratum, n_in = _strata_of(table)
    wrong = labelled & (np.array(labels, dtype=object) != np.array(table.strings("predicted"), dtype=object))
    n_labelled = np.bincount(stratum[labelled], minlength=len(n_in))
    n_wrong = np.bincount(stratum[wrong], minlength=len(n_in))
    n_skipped = int((~labelled[: np.flatnonzero(labelled)[-1]]).sum())
    counts = (tuple(map(int, each)) for each in (n_wrong, n_labelled, n_in))
    back = LabelsBack(*counts, n_skipped)
    _ = back.accuracy  # raises where a stratum has no label
    return back


def _without_point(label: str | None, class_names: tuple[str, ...]) -> str | None:
    """A class 3 that came back as 3.0, as tables write numbers where some are missing."""
    whole = None if label is None else label.removesuffix(".0")
    return whole if label not in class_names and whole in class_names else label


def _check_ids(table: Table) -> None:
    seen: dict[str, int] = {}
    for row, name in enumerate(table.strings("id")):
        if name in seen:
            raise DataError(
                f"{table.place(row)}: “{name}” is there already, in {table.place(seen[name])}. Keep one row."
            )
        seen[name] = row


def _check_labels(table: Table, labels: list[str | None], class_names: tuple[str, ...]) -> None:
    for row, label in enumerate(labels):
        if label is not None and label not in class_names:
            named = ", ".join(f"“{name}”" for name in class_names[:10]) + (" …" if len(class_names) > 10 else "")
            raise DataError(f"{table.place(row)}: “{label}” is no class. Write one of {named}, or leave it empty.")


def _strata_of(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """The stratum of each row, from 0, and how many samples of the pool each stratum has."""
    numbers = {column: table.numbers(column) for column in ("stratum", "stratum_size", "pool_size")}
    stratum, first, at = np.unique(numbers["stratum"], return_index=True, return_inverse=True)
    n_in, pool_size = numbers["stratum_size"][first], numbers["pool_size"][0]
    odd = (numbers["stratum_size"] != n_in[at]) | (numbers["pool_size"] != pool_size) | (numbers["stratum_size"] < 1)
    if odd.any():
        row = int(np.flatnonzero(odd)[0])
        raise DataError(
            f"{table.place(row)}: the size of its stratum or of the pool is not that of the rows above. Download the "
            "list again, and fill in 'label' only."
        )
    if n_in.sum() != pool_size or (np.bincount(at) > n_in).any():
        raise DataError(
            f"{table.name}: the strata hold {n_in.sum():g} samples, the pool {pool_size:g}. Rows of a whole stratum "
            f"are missing (there are {len(stratum)} here): keep all rows, labelled or not."
        )
    return at, n_in.astype(np.int64)
