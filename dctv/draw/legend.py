"""Draw the legend below the tracks: the meaning of colours, and what was omitted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dctv.draw.colours import state_rank, state_role
from dctv.draw.counters import Curve
from dctv.draw.letters import cleaned, fitted, width_of
from dctv.draw.places import Placed, of_kinds
from dctv.draw.rows import TrackRow
from dctv.draw.shapes import Rectangle, Shape, TextShape
from dctv.draw.spans import partial
from dctv.record import record
from dctv.timeline.track import TrackKind

LINE = 20
MARGIN = 12
_SIZE = 11
_SWATCH = 12
_LONGEST = 160
"""The maximum width of a state's name in pixels."""
_GAP = 18


@record
class LegendEntry:
    """A colour and its meaning."""

    role: str
    text: str
    hatched: bool = False
    low: bool = False
    """Whether it is for a partly filled cell."""


def entries(placed: Placed, rows: Sequence[TrackRow], curves: Sequence[Curve]) -> Sequence[LegendEntry]:
    """Return the entries for a picture."""
    found = []
    states = of_kinds(placed, rows, TrackKind.STATES)
    names = sorted({states.names[code] or "" for code in set(states["name"].tolist())}, key=state_rank)
    found += [LegendEntry(state_role(name), fitted(cleaned(name), _LONGEST, _SIZE)) for name in names]
    if partial(states).any():
        found.append(LegendEntry("ended", "lower: it fills only a part of the time", low=True))
    if (of_kinds(placed, rows, TrackKind.SLICES)["count"] > 1).any():
        found.append(LegendEntry("hue0-pale", "pale: several spans, named after the longest", hatched=True))
    if any((curve.high > curve.low).any() for curve in curves):
        found += [LegendEntry("line", "mean", low=True), LegendEntry("range", "least to greatest")]
    return found


def placed_entries(found: Sequence[LegendEntry], width: int, lines: int) -> Sequence[tuple[float, int, LegendEntry]]:
    """Place entries one after another, in lines; those that do not fit are counted."""
    result: list[tuple[float, int, LegendEntry]] = []
    x, line = float(MARGIN), 0
    for number, entry in enumerate(found):
        left = len(found) - number
        need = _need(entry)
        rest = _need(_more(left)) if line == lines - 1 and left > 1 else 0
        if (x > MARGIN or rest) and x + need + rest > width - MARGIN:
            if line == lines - 1:
                return [*result, (x, line, _more(left))]
            x, line = float(MARGIN), line + 1
        result.append((x, line, entry))
        x += need
    return result


def drawn(found: Sequence[tuple[float, int, LegendEntry]], y: int, width: int) -> Iterator[Shape]:
    """Yield the shapes of placed entries."""
    for x, line, entry in found:
        top = y + line * LINE + 4
        if entry.role:
            part = _SWATCH - 4 if entry.low else _SWATCH
            high = 3 if entry.role == "line" else part
            lift = (_SWATCH - 3) / 2 if entry.role == "line" else _SWATCH - part
            yield Rectangle(x, top + lift, _SWATCH, high, entry.role, hatched=entry.hatched)
        shift = _SWATCH + 5 if entry.role else 0
        yield TextShape(x + shift, top + 10, entry.text, width - MARGIN - x - shift, "faint", _SIZE)


def _need(entry: LegendEntry) -> float:
    return (_SWATCH + 5 if entry.role else 0) + width_of(entry.text, _SIZE) + _GAP


def _more(count: int) -> LegendEntry:
    return LegendEntry("", f"and {count:,} more")
