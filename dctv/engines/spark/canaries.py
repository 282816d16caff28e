"""Find deviations of an engine that raise no errors, with small queries that have known answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, isnan, nan
from typing import Any

from dctv.contracts.remote import Typed
from dctv.engines.sql.vetted import gaps
from dctv.errors import EngineError, Unanswered
from dctv.plan.build import by_names, call
from dctv.plan.expressions import Binary, Call, Cast, Column, Expression, Frame, FrameEnd, Number, Star, Text, Window
from dctv.plan.node import Query
from dctv.plan.queries import Compound, Group, GroupingSets, Item, Join, Select, TableName
from dctv.record import record

TABLE = "canary"
COLUMNS: tuple[Typed, ...] = (
    ("id", "BIGINT"),
    ("g", "BIGINT"),
    ("v", "BIGINT"),
    ("w", "BIGINT"),
    ("d", "DOUBLE"),
    ("s", "VARCHAR"),
)
ROWS: tuple[tuple[Any, ...], ...] = (
    (1, 1, None, 2**63 - 1, inf, "a"),
    (2, 1, 5, 2**63 - 1, inf, "ß"),
    (3, 1, None, 1, inf, "b"),
    (4, 1, 7, -7, inf, "İ"),
    (5, 2, None, 7, 2.5, "ab.c"),
    (6, 2, None, -1, nan, None),
    (7, 2, 3, 2, -0.5, "é"),
    (8, 3, 3, None, None, "z"),
)
"""The table that the queries read."""

Rows = list[tuple[Any, ...]]


@record
class Canary:
    """A query with its expected answer."""

    gap: str
    """The deviation that another answer reveals; a name of `vetted.gaps`."""
    query: Query
    expected: Rows | None
    """Rows in order of the first column; None where the query must fail."""


ID, G, V, W, D, S = map(Column, ("id", "g", "v", "w", "d", "s"))
_ONE, _TWO = Number("1"), Number("2")
_HERE, _BESIDE = TableName(TABLE, "a"), TableName(TABLE, "b")


def _rows(*values: Expression, **more: Any) -> Select:
    return Select(tuple(Item(value, f"c{n}") for n, value in enumerate(values)), TableName(TABLE), **more)


def _grouped(*values: Expression) -> Select:
    return _rows(G, *values, group=Group((G,)))


def _over(what: Call, **more: Any) -> Window:
    return Window(what, (G,), by_names(("id",)), **more)


def _joined(kind: Any, *values: Expression) -> Select:
    on = Binary("=", Column("v", "a"), Binary("-", Column("id", "b"), _ONE))
    return Select(tuple(Item(value, f"c{n}") for n, value in enumerate(values)), _HERE, (Join(_BESIDE, kind, on),))


def _both(operator: Any, *, every: bool) -> Compound:
    return Compound(operator, (_rows(G), _rows(V)), every)


_RUNNING = Frame("ROWS", FrameEnd("UNBOUNDED PRECEDING"), FrameEnd("CURRENT ROW"))
_FIRST, _SECOND = Column("id", "a"), Column("id", "b")

CANARIES: tuple[Canary, ...] = (
    Canary(gaps.OVERFLOW, _rows(ID, Binary("+", W, _ONE)), None),
    Canary(gaps.EXTREMES, _grouped(call("min", D), call("max", D)), [(1, inf, inf), (2, -0.5, nan), (3, None, None)]),
    Canary(
        gaps.LETTERS,
        _rows(ID, call("upper", S), call("lower", S)),
        [
            (1, "A", "a"),
            (2, "ẞ", "ß"),
            (3, "B", "b"),
            (4, "İ", "i"),
            (5, "AB.C", "ab.c"),
            (6, None, None),
            (7, "É", "é"),
            (8, "Z", "z"),
        ],
    ),
    Canary(
        "GROUP BY CUBE and its like",
        Select(
            (Item(G, "c0"), Item(V, "c1"), Item(call("count", Star()), "c2")),
            TableName(TABLE),
            where=Binary("=", G, _ONE),
            group=Group((GroupingSets("CUBE", ((G,), (V,))),)),
            order_by=by_names(("c0", "c1", "c2")),
        ),
        [
            (1, 5, 1),
            (1, 7, 1),
            (1, None, 2),
            (1, None, 4),
            (None, 5, 1),
            (None, 7, 1),
            (None, None, 2),
            (None, None, 4),
        ],
    ),
    Canary(
        "IGNORE NULLS over a window",
        _rows(ID, _over(Call("lag", (V,), nulls="IGNORE")), _over(Call("last_value", (V,), nulls="IGNORE"))),
        [
            (1, None, None),
            (2, None, 5),
            (3, 5, 5),
            (4, 5, 7),
            (5, None, None),
            (6, None, None),
            (7, None, 3),
            (8, None, 3),
        ],
    ),
    Canary("DISTINCT", _grouped(Call("sum", (V,), distinct=True)), [(1, 12), (2, 3), (3, 3)]),
    Canary("DISTINCT", _rows(V, distinct=True), [(3,), (5,), (7,), (None,)]),
    Canary(
        "`lag` and `lead`",
        _rows(ID, _over(call("lag", V)), _over(call("lead", V, _TWO))),
        [
            (1, None, None),
            (2, None, 7),
            (3, 5, None),
            (4, None, None),
            (5, None, 3),
            (6, None, None),
            (7, None, None),
            (8, None, None),
        ],
    ),
    Canary(
        "`row_number` and other ranks",
        _rows(ID, _over(call("row_number")), Window(call("rank"), (), by_names(("g",)))),
        [(1, 1, 1), (2, 2, 1), (3, 3, 1), (4, 4, 1), (5, 1, 5), (6, 2, 5), (7, 3, 5), (8, 1, 8)],
    ),
    Canary(
        "a sum over a window",
        _rows(ID, _over(call("sum", V), frame=_RUNNING)),
        [(1, None), (2, 5), (3, 5), (4, 12), (5, None), (6, None), (7, 3), (8, 3)],
    ),
    Canary(
        "`first` and `last` with ORDER BY",
        _grouped(Call("first", (V,), order_by=by_names(("w",))), Call("last", (S,), order_by=by_names(("id",)))),
        [(1, 7, "İ"), (2, None, "é"), (3, 3, "z")],
    ),
    Canary(
        "`arg_max` and `arg_min`",
        _grouped(call("arg_max", ID, V), call("arg_min", ID, V)),
        [(1, 4, 2), (2, 7, 7), (3, 8, 8)],
    ),
    Canary("`sum` of integers", _grouped(call("sum", W)), [(1, 2**64 - 8), (2, 8), (3, None)]),
    Canary("`quantile_cont`", _grouped(call("median", V)), [(1, 6.0), (2, 3.0), (3, 3.0)]),
    Canary(
        "`//` and `%`",
        _rows(ID, Binary("//", W, _TWO), Binary("%", W, Number("3"))),
        [
            (1, 2**62 - 1, 1),
            (2, 2**62 - 1, 1),
            (3, 0, 1),
            (4, -3, -1),
            (5, 3, 1),
            (6, 0, -1),
            (7, 1, 2),
            (8, None, None),
        ],
    ),
    Canary(
        "a join that keeps rows without a partner",
        _joined("LEFT", _FIRST, _SECOND),
        [(1, None), (2, 6), (3, None), (4, 8), (5, None), (6, None), (7, 4), (8, 4)],
    ),
    Canary("a SEMI or ANTI JOIN", _joined("ANTI", _FIRST), [(1,), (3,), (5,), (6,)]),
    Canary("INTERSECT and EXCEPT", _both("EXCEPT", every=False), [(1,), (2,)]),
    Canary("INTERSECT and EXCEPT", _both("INTERSECT", every=False), [(3,)]),
    Canary("UNION", _both("UNION", every=False), [(1,), (2,), (3,), (5,), (7,), (None,)]),
    Canary(
        "`round` and its like",
        _rows(ID, call("floor", D), Cast(D, "BIGINT", lenient=True)),
        [
            (1, inf, None),
            (2, inf, None),
            (3, inf, None),
            (4, inf, None),
            (5, 2.0, 2),
            (6, nan, None),
            (7, -1.0, 0),
            (8, None, None),
        ],
    ),
    Canary(
        "functions of parts of texts",
        _rows(ID, call("length", S), call("instr", S, Text("b")), call("substring", S, _TWO, _TWO)),
        [
            (1, 1, 0, ""),
            (2, 1, 0, ""),
            (3, 1, 1, ""),
            (4, 1, 0, ""),
            (5, 4, 2, "b."),
            (6, None, None, None),
            (7, 1, 0, ""),
            (8, 1, 0, ""),
        ],
    ),
    Canary(
        "regular expressions",
        _rows(ID, call("regexp_matches", S, Text(r"^a.*\.c$"))),
        [(1, False), (2, False), (3, False), (4, False), (5, True), (6, None), (7, False), (8, False)],
    ),
)


def found_gaps(ask: Callable[[Query], Rows]) -> frozenset[str]:
    """Run all canaries on an engine; return its deviations.

    Raises:
        Unanswered: the server does not answer.
    """
    return frozenset(one.gap for one in CANARIES if not _is_right(one, ask))


def _is_right(canary: Canary, ask: Callable[[Query], Rows]) -> bool:
    try:
        found = ask(canary.query)
    except Unanswered:
        raise
    except EngineError:
        return canary.expected is None
    return canary.expected is not None and rows_equal(canary, found)


def rows_equal(canary: Canary, found: Rows) -> bool:
    """Whether rows equal the expected ones, in any order if the query does not sort them."""
    rows = [list(map(_known, one)) for one in (canary.expected or (), found)]
    is_sorted = isinstance(canary.query, Select) and bool(canary.query.order_by)
    return rows[0] == rows[1] if is_sorted else sorted(rows[0]) == sorted(rows[1])


def _known(row: Sequence[Any]) -> str:
    """Return a row as text, in which NaN equals itself and equal numbers of different types are equal."""
    return repr([_plain(value) for value in row])


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | bool):
        return value
    return "NaN" if isnan(value) else int(value) if value not in (inf, -inf) and value == int(value) else float(value)
