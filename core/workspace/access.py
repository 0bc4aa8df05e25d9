"""What does a browser show to be let in where nobody signs in? What follows from a secret that lies in the home.

Whoever can read the home has the secret, and nobody else: so whoever had access keeps it when Touchstone starts anew.
"""

import hashlib
import hmac
import json
import os
import secrets
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from touchstone.core.workspace.holders import is_dead

SECRET = "access"
"""The file of the home. Who deletes it and starts anew shuts out every browser."""
TOKEN = "token"
"""The parameter of the printed address."""
SHORTEST = 32
NOTE = "open.json"
"""The file of the home that says where a Touchstone is open."""


def secret(home: Path) -> bytes:
    """The secret of a home: made where there is none, or one that others could have read.

    Raises OSError where the home cannot be written.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     secret(Path(folder)) == secret(Path(folder)), len(secret(Path(folder)))
    (True, 64)
    """
    file = home / SECRET
    if not _is_ours_alone(file):
        file.unlink(missing_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{SECRET}.", dir=home)  # of mode 0600
        try:
            with os.fdopen(descriptor, "w") as stream:
                stream.write(secrets.token_hex(SHORTEST))
            with suppress(FileExistsError):  # another process was faster: its secret holds
                os.link(temporary, file)
        finally:
            Path(temporary).unlink()
    return file.read_bytes()


def derived(key: bytes, use: str) -> str:
    """What follows from a secret for one use, such as "token" or "cookie"; the one does not tell the other.

    >>> derived(b"secret", "token") == derived(b"secret", "cookie"), len(derived(b"secret", "token"))
    (False, 64)
    """
    return hmac.new(key, use.encode(), hashlib.sha256).hexdigest()


def address(url: str, key: bytes) -> str:
    """The address that lets a browser in.

    >>> address("http://127.0.0.1:8501/", b"secret")[:35]
    'http://127.0.0.1:8501/?token=e94111'
    """
    return f"{url.rstrip('/')}/?{TOKEN}={derived(key, TOKEN)}"


def open_at(home: Path) -> str | None:
    """Where a Touchstone is open on a home; None where none is, or who noted it has ended.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     open_at(Path(folder)) is None
    True
    """
    with suppress(OSError, ValueError, KeyError, TypeError):
        note = json.loads((home / NOTE).read_text("utf-8"))
        if not is_dead(note["holder"]):
            return str(note["url"])
    return None


def _is_ours_alone(file: Path) -> bool:
    try:
        about = file.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(about.st_mode) and not about.st_mode & 0o077 and about.st_size >= SHORTEST
