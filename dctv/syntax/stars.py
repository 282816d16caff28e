"""Nodes that select many columns or some rows: stars, COLUMNS, shares and samples."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal as OneOf

from dctv.record import record
from dctv.syntax.node import Expr, Name, Node, Path


@record(eq=False, text=False)
class Star(Expr):
    """`*` or `t.*`, with EXCLUDE, REPLACE, RENAME and LIKE; also the argument of COUNT(*)."""

    qualifier: Path | None = None
    exclude: tuple[Path, ...] = ()
    replace: tuple[tuple[Expr, Name], ...] = ()
    rename: tuple[tuple[Path, Name], ...] = ()
    choice: Choice | None = None


LikeOp = OneOf["LIKE", "ILIKE", "GLOB", "REGEXP", "SIMILAR TO"]


@record(eq=False, text=False)
class Choice(Node):
    """Which columns of a star are meant, by their names."""

    op: LikeOp
    pattern: str
    negated: bool = False
    escape: str = ""
    """The character that makes the one after it stand for itself, in LIKE."""


@record(eq=False, text=False)
class Columns(Expr):
    """`COLUMNS(...)`: repeats its expression for each of some columns; spread, they are several arguments."""

    choice: Expr
    """A star, a regular expression, a list of names or a lambda."""
    qualifier: Path | None = None
    spread: bool = False


@record(eq=False, text=False)
class Percent(Expr):
    """A share of the rows, in LIMIT."""

    operand: Expr


@record(eq=False, text=False)
class Sample(Node):
    """The size of a sample of a table: a number of rows, or a percentage."""

    size: Fraction
    share: bool = False
    method: OneOf["RESERVOIR", "BERNOULLI", "SYSTEM"] | None = None
    seed: int = 0


@record(eq=False, text=False)
class ResultColumn(Node):
    """One result column; `name` is its alias, or None."""

    expr: Expr
    name: Name | None = None
