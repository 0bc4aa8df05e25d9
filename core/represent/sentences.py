"""What does a sentence encoder make of a text? sentence-transformers, from a folder on this machine only."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

from touchstone.core.data.errors import DataError
from touchstone.core.models.threads import single_threaded
from touchstone.core.models.training import one_torch_thread

_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")
_KNOWN = ("torch.nn.", "sentence_transformers.")
_PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")


def sentence_vectors(texts: Sequence[str], folder: str | Path) -> Float[np.ndarray, "n_samples n_dimensions"]:
    """Encode texts with the sentence-transformers model in a folder, on the processor and in one thread.

    Nothing is fetched, no code in the folder is run and no weights are unpickled: a folder that holds code, weights in
    anything but safetensors, or a configuration that names Python objects other than those of torch.nn and
    sentence-transformers, is refused (DataError), before the library is imported. The same texts and model give the
    same vectors.

    >>> sentence_vectors(["a red fox"], "no/such/folder")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: no/such/folder: there is no such folder. Save a model there first, with ...
    """
    _check_folder(Path(folder))
    try:
        from sentence_transformers import SentenceTransformer  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise DataError(
            "Sentence vectors need sentence-transformers, which is not installed here. Run `pip install "
            "sentence-transformers`, or give vectors by id (Parquet or NPZ)."
        ) from error
    try:
        with single_threaded(), one_torch_thread():
            model = SentenceTransformer(
                str(Path(folder).resolve()),
                device="cpu",
                trust_remote_code=False,
                local_files_only=True,
                model_kwargs={"use_safetensors": True},
            )
            vectors = model.encode(list(texts), show_progress_bar=False, convert_to_numpy=True)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise DataError(
            f"{folder}: this model cannot be used ({error}). Save it again, with model.save(...)."
        ) from error
    return np.asarray(vectors, dtype=np.float32)


def _check_folder(folder: Path) -> None:
    """Refuse what is no model, and what could run code when it is loaded."""
    if not folder.is_dir():
        raise DataError(f"{folder}: there is no such folder. Save a model there first, with model.save(...).")
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in files:
        if path.suffix.lower() == ".py":
            raise DataError(f"{path}: this model brings code along, which is never run. Take a model without it.")
        if path.suffix.lower() in _PICKLED:
            raise DataError(
                f"{path}: these weights may be pickled, and pickle can run code. Save the model as safetensors "
                "(model.save(folder, safe_serialization=True)), and delete this file."
            )
    if not any(path.suffix == ".safetensors" for path in files):
        raise DataError(f"{folder}: there are no weights (*.safetensors). Give the folder that model.save(...) wrote.")
    for module in _modules(folder / "modules.json"):
        if not module.startswith("sentence_transformers."):
            raise DataError(f"{folder}: modules.json names {module!r}, which is no part of sentence-transformers.")
    for path in files:
        if path.suffix.lower() == ".json" and "config" in path.name.lower():
            _check_names(path)


def _modules(file: Path) -> list[str]:
    if not file.is_file():
        return []
    try:
        return [str(module["type"]) for module in json.loads(file.read_text(encoding="utf-8"))]
    except (ValueError, TypeError, KeyError) as error:
        raise DataError(f"{file}: this is no list of modules. Save the model again.") from error


def _check_names(file: Path) -> None:
    """Refuse the configuration of a module (its activation, say) that names what the library would import."""
    try:
        waiting = [json.loads(file.read_text(encoding="utf-8"))]
    except ValueError as error:
        raise DataError(f"{file}: this is no JSON. Save the model again, with model.save(...).") from error
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            waiting.extend(value.values() if isinstance(value, dict) else value)
        elif isinstance(value, str) and _DOTTED.fullmatch(value) and not value.startswith(_KNOWN):
            raise DataError(
                f"{file}: {value!r} is named, which may be imported and run. Take a model that names nothing but parts "
                "of torch.nn and sentence-transformers."
            )
