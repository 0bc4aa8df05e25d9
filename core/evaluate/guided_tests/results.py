"""Generated tests? Features that lie where they were asked for, with their truth, and what could not be placed."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer, Shaped

from touchstone.core.data import Dataset

REGIONS = ("centroid", "boundary")


@dataclass(frozen=True)
class Origin:
    """What the real samples are that tests are made from: the unit of each, by id, and what one is called.

    >>> Origin({"a": "ann", "b": "ann"}, "author").clusters(["test"] * 3, ["a", "b", "a"])
    array([0, 0, 0])
    """

    unit_of: Mapping[str, str] = field(default_factory=dict)
    word: str = "sample"

    @classmethod
    def of(cls, dataset: Dataset) -> "Origin":
        """That of the samples of a data set."""
        if dataset.units is None or dataset.unit_codes is None:
            return SAMPLES
        return cls(dict(zip(dataset.ids.tolist(), dataset.units.tolist(), strict=True)), dataset.unit_word)

    def clusters(self, parts: Sequence[str] | np.ndarray, ids: Sequence[str] | np.ndarray) -> np.ndarray:
        """A number for each parent or, where samples came in units, for the unit that it is of."""
        both = [self.unit_of.get(str(own)) or f"{part} {own}" for part, own in zip(parts, ids, strict=True)]
        return np.unique(both, return_inverse=True)[1] if both else np.zeros(0, dtype=np.int64)


SAMPLES = Origin()


@dataclass(frozen=True, eq=False)
class GeneratedTests:
    """Features that were generated for classes `y`, which is their truth by the metamorphic rule.

    Each lies in the region it was generated for: the centroid region of its class where `for_centroid`, else the
    boundary region; `in_centroid` and `in_boundary` say in which regions it lies, which may be both. It began at the
    sample `parent_ids` of a `parent_part` and went the share `t` of the way to its own centroid, or past the boundary
    with its `rival`. `predicted` and `confidence` are what the head says. `asked` and `placed` count by class and
    region, in the order of `REGIONS`.
    """

    class_names: tuple[str, ...]
    features: Float[np.ndarray, "n n_features"] = field(repr=False)
    y: Integer[np.ndarray, " n"] = field(repr=False)
    for_centroid: Bool[np.ndarray, " n"] = field(repr=False)
    parent_ids: Shaped[np.ndarray, " n"] = field(repr=False)
    parent_part: Shaped[np.ndarray, " n"] = field(repr=False)
    rival: Integer[np.ndarray, " n"] = field(repr=False)
    t: Float[np.ndarray, " n"] = field(repr=False)
    distance: Float[np.ndarray, " n"] = field(repr=False)
    confidence: Float[np.ndarray, " n"] = field(repr=False)
    predicted: Integer[np.ndarray, " n"] = field(repr=False)
    in_centroid: Bool[np.ndarray, " n"] = field(repr=False)
    in_boundary: Bool[np.ndarray, " n"] = field(repr=False)
    asked: Integer[np.ndarray, "n_classes 2"]
    placed: Integer[np.ndarray, "n_classes 2"]
    origin: "Origin" = field(default_factory=lambda: SAMPLES, repr=False)

    def __len__(self) -> int:
        return len(self.features)

    @property
    def correct(self) -> Bool[np.ndarray, " n"]:
        """Which of them the head takes for the class that they were generated for."""
        return self.predicted == self.y

    @property
    def n_unplaced(self) -> int:
        """How many were asked for and could not be placed."""
        return int((self.asked - self.placed).sum())

    @property
    def clusters(self) -> Integer[np.ndarray, " n"]:
        """A number for each parent, or its unit: features of one parent are no independent evidence."""
        return self.origin.clusters(self.parent_part, self.parent_ids)

    def take(self, rows: Shaped[np.ndarray, " n_rows"]) -> "GeneratedTests":
        """Give some of them, by position or by one truth value each; as if no more had been asked for."""
        per_row = {name: getattr(self, name)[rows] for name in _PER_ROW}
        counts = np.stack(
            [
                np.bincount(per_row["y"][side], minlength=len(self.class_names))
                for side in (per_row["for_centroid"], ~per_row["for_centroid"])
            ],
            axis=1,
        )
        return GeneratedTests(self.class_names, **per_row, asked=counts, placed=counts, origin=self.origin)

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each: label, region, rival, parent, part, t, distance, confidence, predicted, correct.

        Then in_centroid and in_boundary, which are truth values.
        """
        names = np.array(self.class_names, dtype=object)
        return pd.DataFrame(
            {
                "label": names[self.y],
                "region": np.where(self.for_centroid, *REGIONS),
                "rival": names[self.rival],
                "parent": self.parent_ids,
                "part": self.parent_part,
                "t": self.t,
                "distance": self.distance,
                "confidence": self.confidence,
                "predicted": names[self.predicted],
                "correct": self.correct,
                "in_centroid": self.in_centroid,
                "in_boundary": self.in_boundary,
            }
        )

    def counts_table(self) -> pd.DataFrame:
        """Tidy rows, one for each class and region: label, region, asked, placed, unplaced."""
        return pd.DataFrame(
            {
                "label": np.repeat(np.array(self.class_names, dtype=object), 2),
                "region": list(REGIONS) * len(self.class_names),
                "asked": self.asked.ravel(),
                "placed": self.placed.ravel(),
                "unplaced": (self.asked - self.placed).ravel(),
            }
        )

    def to_npz(
        self,
        images: Float[np.ndarray, "n height width channels"] | None = None,
        *,
        facts: Mapping[str, Shaped[np.ndarray, "..."] | str | float] | None = None,
    ) -> bytes:
        """Write features, labels, region, rival and parent ids (and images) as NPZ that needs no pickle to be read.

        `facts` are arrays beside: what the features are of, and what is known of each test.
        """
        names = np.array(self.class_names, dtype=str)
        arrays: dict[str, np.ndarray] = {
            "features": self.features,
            "labels": names[self.y],
            "region": np.where(self.for_centroid, *REGIONS).astype(str),
            "rival": names[self.rival],
            "parent_ids": self.parent_ids.astype(str),
            "parent_part": self.parent_part.astype(str),
            "predicted": names[self.predicted],
            "confidence": self.confidence,
            "class_names": names,
        }
        if images is not None:
            arrays |= {"images": images, "pixel_scale": np.array([0.0, 1.0])}
        arrays |= {name: np.asarray(value) for name, value in (facts or {}).items()}
        stream = io.BytesIO()
        np.savez_compressed(stream, **arrays)
        return stream.getvalue()


_PER_ROW = (
    *("features", "y", "for_centroid", "parent_ids", "parent_part", "rival", "t", "distance", "confidence"),
    *("predicted", "in_centroid", "in_boundary"),
)


def all_of(parts: "list[GeneratedTests]") -> GeneratedTests:
    """Put several together, class after class."""
    per_row = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _PER_ROW}
    asked, placed = (sum(getattr(part, name) for part in parts) for name in ("asked", "placed"))
    return GeneratedTests(parts[0].class_names, **per_row, asked=asked, placed=placed, origin=parts[0].origin)
