"""How is a connection to a cluster encrypted? By the certificates of dask's own settings; what they lack is named."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from touchstone.core.workspace.errors import WorkspaceError

if TYPE_CHECKING:
    from distributed import Security

UNREADABLE = (
    "The certificates for the cluster cannot be read ({problem}). Correct distributed.comm.tls in dask's settings, "
    "then resume: docs/deployment.md shows them."
)
NO_CERTIFICATE = (
    "TOUCHSTONE_SCHEDULER names an encrypted address, {address}, and dask's settings name no certificates. Set "
    "distributed.comm.tls, then resume: docs/deployment.md shows how."
)
NOT_ENCRYPTED = (
    "TOUCHSTONE_SCHEDULER names an address without encryption, {address}, and dask's settings require it. Start the "
    "scheduler at tls:// and name that address, then resume."
)
REFUSED = (
    "The scheduler at {address} and this Touchstone do not accept each other's certificates. Give both the same, then "
    "resume: docs/deployment.md shows how."
)


def security(address: str) -> "Security":
    """What dask's settings say of encryption. Raises WorkspaceError where they cannot serve for this address."""
    from distributed import Security

    settings = Security()
    try:
        has_certificates = settings.get_connection_args("client").get("ssl_context") is not None
    except OSError as problem:  # which what is wrong with a certificate is, too
        raise WorkspaceError(UNREADABLE.format(problem=problem.strerror or problem)) from problem
    encrypted = address.startswith("tls://")
    if encrypted and not has_certificates:
        raise WorkspaceError(NO_CERTIFICATE.format(address=address))
    if settings.require_encryption and not encrypted:
        raise WorkspaceError(NOT_ENCRYPTED.format(address=address))
    return settings


@contextmanager
def mismatch_said(address: str) -> Iterator[None]:
    """Certificates that do not fit are no reason to try again: they are a sentence."""
    from distributed.comm.core import FatalCommClosedError

    try:
        yield
    except FatalCommClosedError as problem:
        raise WorkspaceError(REFUSED.format(address=address)) from problem
