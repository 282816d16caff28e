"""Shapes of a picture with roles of colours, at positions in pixels."""

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
    """A box; also used for lines along an axis."""

    x: float
    y: float
    width: float
    height: float
    role: str
    title: str = ""
    """The tooltip."""
    hatched: bool = False


@record(eq=False)
class Boxes:
    """Many boxes with one colour."""

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
    """Its baseline."""
    text: str
    room: float
    """Its maximum width."""
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
    """A polyline."""

    points: Sequence[tuple[float, float]]
    role: str


Shape = Rectangle | Boxes | TextShape | Polygon | Line


@record
class Drawing:
    """All shapes, from back to front."""

    width: int
    height: int
    title: str
    shapes: Sequence[Shape]
