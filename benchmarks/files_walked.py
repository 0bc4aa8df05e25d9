"""How many files does whoever follows a file of predictions from upload to `Predictions` walk through?

Prints, for three usual kinds of files, the files of core/data in which a function runs, and how many of them are about
predictions; what runs only while modules are imported does not count, nor do comprehensions of their own.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from touchstone.core import data
from touchstone.core.data.predictions.upload import GivenFile, PredictionUpload

ROOM = Path(data.__file__).parent
LABELLED = b"id\tgold\tpredicted\tprob\n" + b"".join(
    b"r%d\t%s\t%s\t0.%d\n" % (n, gold, predicted, 60 + n % 40)
    for n, (gold, predicted) in enumerate([(b"cat", b"cat"), (b"dog", b"cat"), (b"dog", b"dog"), (b"cat", b"cat")] * 10)
)
TRUTH = b"id\tlabel\n" + b"".join(b"r%d\t%s\n" % (n, b"cat" if n % 2 else b"dog") for n in range(40))
PREDICTED = b"id\tpredicted\n" + b"".join(b"r%d\t%s\n" % (n, b"cat" if n % 3 else b"dog") for n in range(40))
WIDE = b"id\tlabel\tsoftmax_0\tsoftmax_1\tsoftmax_2\n" + b"".join(
    b"r%d\t%d\t%s\n" % (n, n * 7 // 5 % 3, b"\t".join(b"0.7" if code == n % 3 else b"0.15" for code in range(3)))
    for n in range(40)
)
UPLOADS = {
    "labelled TSV": PredictionUpload(GivenFile("labelled.tsv", LABELLED)),
    "truth + predictions": PredictionUpload(GivenFile("said.tsv", PREDICTED), GivenFile("truth.tsv", TRUTH)),
    "wide softmax": PredictionUpload(GivenFile("wide.tsv", WIDE)),
}


def walked(call: Callable[[], Any]) -> list[str]:
    """The files of core/data, below it, in which a function runs during the call."""
    files: set[str] = set()

    def enter(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and not code.co_name.startswith("<") and code.co_filename.startswith(str(ROOM)):
            files.add(str(Path(code.co_filename).relative_to(ROOM)))

    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(None)
    return sorted(files)


def main() -> None:
    for name, upload in UPLOADS.items():
        upload.read()  # once before, so that everything is imported
        files = walked(lambda upload=upload: upload.read().select())
        n_own = sum(file.startswith("predictions/") for file in files)
        print(f"{name}: {len(files)} files, {n_own} of core/data/predictions\n  {', '.join(files)}")


if __name__ == "__main__":
    main()
