"""Schemes that split samples into a training and a test part; write one and add it to ``SCHEMES``."""

from core.split.describe import SplitDescription, describe
from core.split.scheme import Split, SplitScheme
from core.split.source_aware import Random, SourceExclusive, SourceInclusive

SCHEMES: dict[str, type[SplitScheme]] = {
    "source_exclusive": SourceExclusive,
    "source_inclusive": SourceInclusive,
    "random": Random,
}

__all__ = [
    "SCHEMES",
    "Random",
    "SourceExclusive",
    "SourceInclusive",
    "Split",
    "SplitDescription",
    "SplitScheme",
    "describe",
]
