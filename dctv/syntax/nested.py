"""Nodes of values that hold others: rows, lists, structs and maps, and how one takes parts out of them."""

from __future__ import annotations

from dctv.record import record
from dctv.syntax.node import Expr, Name


@record(eq=False, text=False)
class Row(Expr):
    """`(a, b)`: several values compared at once."""

    items: tuple[Expr, ...]


@record(eq=False, text=False)
class List(Expr):
    """`[a, b]`."""

    items: tuple[Expr, ...]


@record(eq=False, text=False)
class Struct(Expr):
    """`{'name': a, other: b}`."""

    items: tuple[tuple[Name, Expr], ...]


@record(eq=False, text=False)
class Map(Expr):
    """`MAP {key: a, other: b}`."""

    items: tuple[tuple[Expr, Expr], ...]


@record(eq=False, text=False)
class Lambda(Expr):
    """`lambda x, i: body` or `(x, i) -> body`: applied to each element of a list."""

    parameters: tuple[Name, ...]
    body: Expr


@record(eq=False, text=False)
class Index(Expr):
    """`x[i]`: one element of a list, string, map, struct or JSON value."""

    operand: Expr
    index: Expr


@record(eq=False, text=False)
class Slice(Expr):
    """`x[start : stop : step]`: some elements of a list or string; `step` needs both of the others."""

    operand: Expr
    start: Expr | None = None
    stop: Expr | None = None
    step: Expr | None = None


@record(eq=False, text=False)
class Member(Expr):
    """`(x).name`: a member of a struct or JSON value that is not a plain column."""

    operand: Expr
    name: Name
