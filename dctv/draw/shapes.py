"""What a picture consists of: shapes with roles of colours, at places in pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from dctv.record import record

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Numbers = NDArray[float64]

Anchor = Literal["start", "end"]


@record
class Rectangle:
    """A box; lines along an axis are boxes as well."""

    x: float
    y: float
    width: float
    height: float
    role: str
    title: str = ""
    """What is shown when one points at it."""
    hatched: bool = False


@record(eq=False)
class Boxes:
    """Many boxes of one colour."""

    left: Numbers
    top: Numbers
    right: Numbers
    bottom: Numbers
    role: str


@record
class TextShape:
    """A line of text."""

    x: float
    y: float
    """Where its letters stand."""
    text: str
    room: float
    """How wide it may become."""
    role: str = "ink"
    size: int = 11
    anchor: Anchor = "start"
    bold: bool = False
    title: str = ""


@record
class Polygon:
    """An area."""

    points: Sequence[tuple[float, float]]
    role: str
    title: str = ""


@record
class Line:
    """A line from point to point."""

    points: Sequence[tuple[float, float]]
    role: str


Shape = Rectangle | Boxes | TextShape | Polygon | Line


@record
class Drawing:
    """All shapes, those below others first."""

    width: int
    height: int
    title: str
    shapes: Sequence[Shape]
