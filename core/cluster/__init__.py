"""Sources found by clustering; write a finder and add it to ``SOURCE_FINDERS``."""

from core.cluster.sources import SOURCE_FINDERS, Silhouettes, find_sources, silhouettes

__all__ = ["SOURCE_FINDERS", "Silhouettes", "find_sources", "silhouettes"]
