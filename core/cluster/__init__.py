"""Sources found within classes (write a finder and add it to ``SOURCE_FINDERS``), and k-means under quotas."""

from typing import TYPE_CHECKING, Any

from touchstone.core.cluster.finders import (
    SOURCE_FINDERS,
    SourceFinder,
    check_finder,
    find_sources,
    train_for_sources,
    trains,
)
from touchstone.core.cluster.quotas import spread_quotas
from touchstone.core.cluster.sources import FoundSources, Silhouettes, cluster_classes, silhouettes

if TYPE_CHECKING:
    from touchstone.core.cluster.sds import SameSizeKMeans, SDSKMeans


def __getattr__(name: str) -> Any:
    """Import the clusterers when they are first asked for: their base classes drag scikit-learn in."""
    if name in ("SDSKMeans", "SameSizeKMeans"):
        from touchstone.core.cluster import sds

        return getattr(sds, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
