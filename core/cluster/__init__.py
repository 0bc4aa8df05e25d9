"""Sources found by clustering (write a finder and add it to ``SOURCE_FINDERS``), and k-means under quotas."""

from typing import TYPE_CHECKING, Any

from core.cluster.quotas import spread_quotas
from core.cluster.sources import SOURCE_FINDERS, Silhouettes, find_sources, silhouettes

if TYPE_CHECKING:
    from core.cluster.sds import SameSizeKMeans, SDSKMeans

__all__ = [
    "SOURCE_FINDERS",
    "SDSKMeans",
    "SameSizeKMeans",
    "Silhouettes",
    "find_sources",
    "silhouettes",
    "spread_quotas",
]


def __getattr__(name: str) -> Any:
    """Import the clusterers when they are first asked for: their base classes drag scikit-learn in."""
    if name in ("SDSKMeans", "SameSizeKMeans"):
        from core.cluster import sds

        return getattr(sds, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
