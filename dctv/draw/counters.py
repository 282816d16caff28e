"""Draw counters as steps: a line for the mean, a band between the extremes, an area below, and a scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import frexp, ldexp
from typing import TYPE_CHECKING

from dctv.draw.amounts import amount
from dctv.draw.letters import cleaned
from dctv.draw.places import Placed, TimeScale, of_kinds
from dctv.draw.rows import TrackRow
from dctv.draw.shapes import Line, Polygon, Rectangle, Shape
from dctv.record import record
from dctv.timeline.track import TrackKind

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Numbers = NDArray[float64]

_MARGIN = 3
"""Pixels above and below the values of a counter."""
_SLACK = 0.5
"""The maximum gap between adjacent cells in pixels."""


@record(eq=False)
class Curve:
    """A counter in a picture."""

    row: TrackRow
    left: Numbers
    right: Numbers
    low: Numbers
    high: Numbers
    value: Numbers
    scale: tuple[float, float]
    """The values at its lower and upper end."""

    @property
    def labels(self) -> tuple[str, str]:
        """The ends of the scale with their unit, the upper one first."""
        least, greatest = (amount(end, self.row.track.unit, 3) for end in self.scale)
        return greatest, least

    def share(self, values: Numbers) -> Numbers:
        """Return the positions of values on the scale, from 0 to 1."""
        import numpy as np

        # Below 1/2, neither the difference of the ends overflows, nor do the ends of a tiny scale become equal.
        power = -1 - frexp(max(map(abs, self.scale)))[1]
        least, greatest = (ldexp(end, power) for end in self.scale)
        shares: Numbers = (np.ldexp(values, power) - least) / (greatest - least)
        return np.clip(shares, 0, 1)

    def height(self, values: Numbers) -> Numbers:
        """Return the vertical positions of values in the picture."""
        import numpy as np

        room = self.row.height - 2 * _MARGIN
        placed: Numbers = np.round(self.row.y + _MARGIN + (1 - self.share(values)) * room, 2)
        return placed


def curves(placed: Placed, rows: Sequence[TrackRow]) -> dict[int, Curve]:
    """Return the curves of counters with values, by the ids of their tracks."""
    import numpy as np

    found = of_kinds(placed, rows, TrackKind.COUNTER)
    value = np.where(np.isfinite(found["mean"]), found["mean"], found["last"])
    found = found.take(np.isfinite(value))
    value = value[np.isfinite(value)]
    low, high = (np.where(np.isfinite(found[name]), found[name], value) for name in ("min", "max"))
    low, high = np.minimum(low, value), np.maximum(high, value)
    if not len(found):
        return {}
    starts = np.flatnonzero(np.diff(found["row"], prepend=-1)).tolist()
    parts = [slice(first, last) for first, last in zip(starts, [*starts[1:], len(found)], strict=True)]
    made = (
        Curve(
            rows[int(found["row"][part.start])],
            found["left"][part],
            found["right"][part],
            low[part],
            high[part],
            value[part],
            _scale(float(low[part].min()), float(high[part].max())),
        )
        for part in parts
    )
    return {curve.row.track.id: curve for curve in made}


def counters(found: dict[int, Curve], plot: TimeScale) -> Iterator[Shape]:
    """Yield the steps of counters."""
    import numpy as np

    for curve in found.values():
        breaks = np.flatnonzero(curve.left[1:] - curve.right[:-1] > _SLACK) + 1
        ends = [0, *breaks.tolist(), len(curve.left)]
        least, greatest = curve.scale
        base = float(curve.height(np.zeros(1))[0])
        high, low = (amount(float(end), curve.row.track.unit) for end in (curve.high.max(), curve.low.min()))
        title = f"{cleaned(curve.row.track.name)}\nleast {low}\ngreatest {high}"
        for first, last in pairwise(ends):
            yield from _steps(curve, slice(first, last), base, title)
        if least < 0 < greatest:
            yield Rectangle(plot.left, round(base), plot.width, 1, "zero")


def _steps(curve: Curve, part: slice, base: float, title: str) -> Iterator[Shape]:
    import numpy as np

    left, right = curve.left[part].copy(), curve.right[part]
    left[1:] = right[:-1]
    x = np.round(np.column_stack([left, right]).ravel(), 2)
    low, high, value = (curve.height(values[part]).repeat(2) for values in (curve.low, curve.high, curve.value))
    line = _points(x, value)
    yield Polygon([(float(x[0]), base), *line, (float(x[-1]), base)], "area", title)
    if (low > high).any():
        yield Polygon([*_points(x, high), *reversed(_points(x, low))], "range", title)
    yield Line(line, "line")


def _points(x: Numbers, y: Numbers) -> list[tuple[float, float]]:
    """Return the corners of steps, without those between equal values."""
    import numpy as np

    turns = np.ones(len(x), dtype=bool)
    turns[1:-1] = (y[1:-1] != y[:-2]) | (y[1:-1] != y[2:])
    return list(zip(x[turns].tolist(), y[turns].tolist(), strict=True))


def _scale(low: float, high: float) -> tuple[float, float]:
    """Return the ends of a scale: from zero, unless all values are too far from it to be distinguished."""
    if low >= 0 and (low <= high / 2 or low == high):
        return 0.0, high or 1.0
    if high <= 0 and (high >= low / 2 or low == high):
        return low, 0.0
    return low, high
