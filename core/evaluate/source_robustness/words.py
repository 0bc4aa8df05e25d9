"""What are sources called? Known ones are sources; found ones are clusters, and never carry the word."""

from touchstone.core.trials.plan_sources import KNOWN_SOURCES


def noun(source_finder: str) -> str:
    """What one of them is.

    >>> noun("known"), noun("kmeans")
    ('source', 'cluster')
    """
    return "source" if source_finder == KNOWN_SOURCES else "cluster"


def held_out(source_finder: str) -> str:
    """What accuracy is lost on.

    >>> held_out("kmeans")
    'held-out clusters'
    """
    return f"held-out {noun(source_finder)}s"
