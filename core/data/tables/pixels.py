"""What are raw pixels divided by, so that images lie in [0, 1]? Everything measured in input units rests on it."""

import numpy as np

from touchstone.core.data.errors import DataError


def to_unit_range(pixels: np.ndarray, place: str) -> tuple[np.ndarray, float, str]:
    """Images as float32 in [0, 1], what they were divided by, and a sentence that says so.

    Whole numbers (whatever their type) up to 1 stay, up to 16 are divided by 16, up to 255 by 255. Fractions must lie
    in [0, 1] already. All else is refused, since a wrong guess here would change every result in input units.

    >>> pixels, scale, note = to_unit_range(np.array([0, 51, 255], dtype=np.uint8), "p.npz")
    >>> pixels, scale, note
    (array([0. , 0.2, 1. ], dtype=float32), 255.0, 'Pixels are whole numbers up to 255 and were divided by 255.')
    """
    if not np.isfinite(pixels).all():
        raise DataError(f"{place} holds NaN or infinite pixels. Every pixel must be a finite number.")
    lowest, highest = float(pixels.min()), float(pixels.max())
    whole = not np.issubdtype(pixels.dtype, np.floating) or bool((pixels == np.rint(pixels)).all())
    scale = next((limit for limit in (1.0, 16.0, 255.0) if highest <= limit), None) if whole else 1.0
    if lowest < 0 or scale is None or highest > scale:
        raise DataError(
            f"{place} holds pixels from {lowest:g} to {highest:g}. They must lie in [0, 1], or be whole numbers from "
            "0 to 255: subtract the lowest possible value and divide by the range of possible values."
        )
    unit = pixels.astype(np.float32)
    if scale == 1:
        return unit, scale, "Pixels lie in [0, 1] and were kept as they are."
    unit /= np.float32(scale)
    return unit, scale, f"Pixels are whole numbers up to {highest:g} and were divided by {scale:g}."
