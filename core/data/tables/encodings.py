"""Which letters do the bytes of a file stand for? UTF-8 or UTF-16, else what Windows writes in the West."""

import re

from touchstone.core.data.errors import DataError

_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_MOST_BEYOND_ASCII = 0.3  # of the letters: French has a tenth, and what is more is Greek, Russian or Japanese
_NOTE = "The file is not UTF-8. It was read as Windows-1252 (Latin-1): look at words with accents."


def decode(content: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """The text of a file, and a sentence where its encoding had to be guessed; DataError where it cannot be.

    >>> decode("Zoë".encode(), "t.tsv")
    ('Zoë', ())
    >>> decode("Zoë went".encode("latin-1"), "t.tsv")[0]
    'Zoë went'
    >>> decode(b"a\\x81", "t.tsv")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: t.tsv, line 1: byte 0x81 is not UTF-8. Save the file as UTF-8.
    """
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return content.decode(encoding), ()
    except UnicodeDecodeError as error:
        western = _western(content) if encoding != "utf-16" else None
        if western is not None:
            return western, (_NOTE,)
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{name}, line {line}: byte 0x{content[error.start]:02X} is not {error.encoding.upper()}. "
            "Save the file as UTF-8."
        ) from error


def _western(content: bytes) -> str | None:
    """The text in Windows-1252, where it can be nothing else that is usual: no damaged UTF-8, no other script."""
    if any(not letter.isascii() and letter != "\ufffd" for letter in set(content.decode("utf-8", errors="replace"))):
        return None
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        return None
    n_ascii = sum(map(content.count, (bytes([byte]) for byte in (*range(65, 91), *range(97, 123)))))
    n_beyond = len(re.findall(rb"[\x80-\xff]", content))
    return None if _CONTROLS.search(text) or n_beyond > _MOST_BEYOND_ASCII * (n_ascii + n_beyond) else text
