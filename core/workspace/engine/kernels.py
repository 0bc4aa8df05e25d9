"""Is the code compiled that is compiled once, after an installation? The loops of clustering, matching and noise.

`python -m touchstone.core.workspace.engine.kernels` compiles all of it. Numba keeps what it made beside the source,
or where NUMBA_CACHE_DIR says, and every process finds it there.
"""

import os
from collections.abc import Iterator
from pathlib import Path

CORE = Path(__file__).resolve().parents[2]
LAST_COMPILED = {
    "cluster/transport.py": "assign_labels",
    "cluster/sds.py": "_add_to_sums",
    "evaluate/matched_subsets/kernels.py": "count_matching",
    "evaluate/average_case/normal_kernels.py": "integrate",
}
"""The files of such loops, below `core`, and in each the loop that needs the others and is kept after these."""

NICE = 10
"""So far the processes that compile and that work step back behind whatever somebody waits for."""


def are_compiled() -> bool:
    """Whether numba has kept every file's loops since the file was last written; nothing is imported."""
    return all(_is_kept(CORE / file, loop) for file, loop in LAST_COMPILED.items())


def compile_all() -> None:
    """Have numba compile all loops, or load what it has kept: the least of work that needs each."""
    import numpy as np

    from touchstone.core.cluster import SDSKMeans
    from touchstone.core.evaluate.average_case.gaussian_cdf import mvn_cdf
    from touchstone.core.evaluate.matched_subsets.compare import compare_sets
    from touchstone.core.evaluate.matched_subsets.outcomes import Outcomes

    rng = np.random.default_rng(0)
    SDSKMeans(n_clusters=3, n_init=1, random_state=0).fit(rng.normal(size=(60, 3)), np.arange(60) % 2)
    mvn_cdf(np.ones((1, 4)), np.eye(4)[None] + 0.5)
    labels, confidence = np.arange(60) % 2, rng.uniform(0.5, 1.0, size=60)
    confidence[0] = 0.0  # so wide a range that confidences, labels and places do not fit into one word
    sets = [Outcomes(labels, confidence, rng.random(60) < confidence, ("a", "b")) for _ in range(2)]
    for method in ("random", "maximum"):
        compare_sets(*sets, epsilon=0.1, method=method, scale="confidence", n_repeats=1, more=False, rng=rng)


def _is_kept(file: Path, loop: str) -> bool:
    written = file.stat().st_mtime
    return any(kept.stat().st_mtime >= written for kept in _kept(file, f"{file.stem}.{loop}-*.nbi"))


def _kept(file: Path, pattern: str) -> Iterator[Path]:
    elsewhere = os.environ.get("NUMBA_CACHE_DIR")
    yield from Path(elsewhere).glob(f"*/{pattern}") if elsewhere else (file.parent / "__pycache__").glob(pattern)


if __name__ == "__main__":
    os.nice(NICE)
    compile_all()
