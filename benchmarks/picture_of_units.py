"""Draws docs/how-to-read/units.svg: one fitted model on ten authors of 100 texts each, and what that says of others."""

from pathlib import Path

import numpy as np

from tests.worlds.designs import Authors
from touchstone.core.evaluate.intervals import t_interval, wilson
from touchstone.core.evaluate.units import units_of

FILE = Path(__file__).resolve().parent.parent / "docs" / "how-to-read" / "units.svg"
LEFT, RIGHT, STEP, TOP = 210.0, 560.0, 24.0, 34.0
INK, BLUE, ORANGE = "#59626e", "#1b5faa", "#b3541e"


def main() -> None:
    rng = np.random.default_rng(4)
    draw = Authors().fitted(rng)
    drawn = draw(np.repeat(rng.integers(2**50, 2**51, size=10), 100), rng)
    right = drawn.logits.argmax(axis=1) == drawn.y
    accuracy, n = float(right.mean()), len(right)
    error = units_of(drawn.author).error((right - accuracy) / n)
    of_authors = t_interval(accuracy, error.se, error.df)
    alone, other = wilson(float(right.sum()), float(n)), units_of(drawn.author)
    shares = sorted(right[drawn.author == name].mean() for name in np.unique(drawn.author))

    def x(share: float) -> float:
        return LEFT + (RIGHT - LEFT) * (share - 0.5) / 0.5

    ends_of_lines = f'y1="{TOP}" y2="{TOP + 12 * STEP}" stroke="{INK}" opacity=".25"'
    lines = [
        f'<text x="{x(share):.1f}" y="{TOP - 12}" text-anchor="middle">{100 * share:.0f} %</text>'
        f'<line x1="{x(share):.1f}" x2="{x(share):.1f}" {ends_of_lines}/>'
        for share in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    ]
    for row, share in enumerate(shares):
        y = TOP + (row + 0.5) * STEP
        lines.append(f'<text x="{LEFT - 14}" y="{y + 4}" text-anchor="end">Author {row + 1}, 100 texts</text>')
        lines.append(f'<circle cx="{x(float(share)):.1f}" cy="{y}" r="5" fill="{INK}"/>')
    for row, (name, colour, interval) in enumerate(
        (("As 1,000 samples", ORANGE, alone), (f"As {other.n[0]} authors", BLUE, of_authors))
    ):
        y = TOP + (10.5 + row) * STEP
        ends = x(interval.lower), x(min(interval.upper, 1.0))
        lines.append(f'<text x="{LEFT - 14}" y="{y + 4}" text-anchor="end" fill="{colour}">{name}</text>')
        lines.append(
            f'<line x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="4"/>'
            f'<circle cx="{x(accuracy):.1f}" cy="{y}" r="5" fill="{colour}"/>'
        )
    height = TOP + 12 * STEP + 30
    caption = "Accuracy. Bars are 95 % CIs of all texts together; dots are single authors."
    body = "\n".join([*lines, f'<text x="40" y="{height - 8}">{caption}</text>'])
    FILE.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 {height:.0f}" width="700" height="{height:.0f}" '
        f'font-family="Source Sans 3, sans-serif" font-size="14" fill="{INK}">'
        f'<rect width="700" height="{height:.0f}" fill="#ffffff"/>\n{body}\n</svg>\n',
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
