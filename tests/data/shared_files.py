"""Files as they are shared: a few recordings of each of few subjects, nothing called a label; images of any size."""

import io
import zipfile

import numpy as np
from PIL import Image

N_RECORDINGS = 6


def recordings(*, n_healthy: int = 8, n_ill: int = 23, n_columns: int = 22, seed: int = 0) -> bytes:
    """A TSV of name, subject, status and measured numbers; subjects differ by more than illness."""
    rng = np.random.default_rng(seed)
    lines = ["\t".join(["name", "subject", "status", *(f"MDVP:{column}" for column in range(n_columns))])]
    for subject in range(n_healthy + n_ill):
        status = int(subject >= n_healthy)
        voice = rng.normal(size=n_columns) + 0.4 * status
        for take in range(N_RECORDINGS):
            measured = voice + 0.5 * rng.normal(size=n_columns)
            names = [f"phon_S{subject:02d}_{take}", f"S{subject:02d}", str(status)]
            lines.append("\t".join([*names, *(f"{number:.5f}" for number in measured)]))
    return ("\n".join(lines) + "\n").encode()


def zip_of(sizes: dict[str, tuple[int, int]]) -> bytes:
    """A zip of grey images in folders, each of its own size."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, size in sizes.items():
            picture = io.BytesIO()
            Image.new("L", size, 128).save(picture, "PNG")
            archive.writestr(name, picture.getvalue())
    return stream.getvalue()
