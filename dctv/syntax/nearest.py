"""The condition of a join with the nearest rows."""

from __future__ import annotations

from dctv.record import record
from dctv.syntax.node import Expr, Node


@record(eq=False, text=False)
class Nearest(Node):
    """`NEAREST count BY DISTANCE expr`, of the rows on the right side of a join."""

    count: int
    by: Expr
    largest: bool = False
    """Whether the largest values are the nearest: BY SIMILARITY."""
