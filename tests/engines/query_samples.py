"""Queries of all kinds of clauses, over `edges`."""

from __future__ import annotations

from dctv.plan.build import by_names, call, descending, join, select, source_of, where, with_steps
from dctv.plan.expressions import (
    FALSE,
    NULL,
    Binary,
    Column,
    Exists,
    Expression,
    InQuery,
    List,
    Number,
    Ordered,
    Star,
    Subquery,
    Text,
    Unary,
    Window,
)
from dctv.plan.node import Query
from dctv.plan.queries import Compound, Derived, Group, GroupingSets, Item, Join, Rows, Select, TableCall, TableName
from dctv.record import replace
from tests.engines.edges import ONE, TWO, B, D, J, K, N, S

KEYS = (N, B)
"""Groups of several rows."""


def aggregating(sample: Expression) -> list[Query]:
    """Compute an aggregate of groups, of all rows, and of none."""
    items = (*map(Item, KEYS), Item(sample, "value"))
    grouped = Select(items, TableName("edges"), group=Group(KEYS))
    return [grouped, Select(items[2:], TableName("edges")), Select(items[2:], TableName("edges"), where=FALSE)]


EDGES = TableName("edges")
FEW = Derived(select("id", "i", "n", "s", source="edges"), "few")
ROW_NUMBER = Window(call("row_number"), (N,), by_names(("id",)))
LISTED = Rows(
    ((ONE, Text("a"), NULL), (NULL, Text("b"), TWO), (Number("3"), NULL, Number("5e-1"))), "r", ("x", "y", "z")
)
_AMONG = Select((Item(Column("x", "r")),), LISTED)
SIDES = (select("id", "i", source="edges"), select(Binary("+", Column("id"), ONE), NULL, source="edges"))
QUERIES: dict[str, Query] = {
    "rows": Select((Item(Star()),), LISTED),
    "rows without names": Select((Item(Star()),), Rows(((ONE, Text("a")),))),
    "sorted": replace(select("id", "s", source="edges"), order_by=(Ordered(S), descending(D), *by_names(("id",)))),
    "sorted, NULLs first": replace(
        select("id", source="edges"),
        order_by=(Ordered(K, nulls_first=True), Ordered(S, descending=True, nulls_first=True), *by_names(("id",))),
        limit=Number("20"),
        offset=Number("3"),
    ),
    "distinct": replace(select("n", "b", source="edges"), distinct=True),
    "grouped by all": Select(
        (Item(N), Item(call("count", K), "c"), Item(call("max", S), "m")), EDGES, group=Group(all=True)
    ),
    "grouping sets": Select(
        (Item(N), Item(B), Item(call("count", Star()), "c")),
        EDGES,
        group=Group((GroupingSets("GROUPING SETS", ((N, B), (N,), (B,), ())),)),
    ),
    "rollup": Select(
        (Item(N), Item(B), Item(call("sum", K), "c")), EDGES, group=Group((GroupingSets("ROLLUP", ((N,), (B,))),))
    ),
    "cube": Select(
        (Item(N), Item(B), Item(call("min", S), "c")), EDGES, group=Group((GroupingSets("CUBE", ((N,), (B,))),))
    ),
    "having": Select(
        (Item(N), Item(call("count", S), "c")), EDGES, group=Group((N,)), having=Binary(">", call("max", J), TWO)
    ),
    "qualify": Select((Item(Column("id")), Item(S)), EDGES, qualify=Binary("<=", ROW_NUMBER, TWO)),
    "qualify a star": Select(
        (Item(Star()),), FEW, qualify=Binary("=", ROW_NUMBER, ONE), order_by=by_names(("s", "id"))
    ),
    "qualify, distinct": Select((Item(N),), EDGES, qualify=Binary(">", ROW_NUMBER, TWO), distinct=True),
    "windows": Select(
        (
            Item(Column("id")),
            Item(Window(call("sum", K), (N,), by_names(("id",))), "x"),
            Item(Window(call("rank"), (N,), (Ordered(J),)), "y"),
        ),
        EDGES,
    ),
    "steps": with_steps(select("id", source="a"), [("a", select("id", source="b")), ("b", SIDES[0])][::-1]),
    "union all": Compound("UNION", SIDES, all=True),
    "union": Compound("UNION", (*SIDES, select(NULL, TWO)), order_by=(Ordered(Column("id")),), limit=Number("9")),
    "union of types": Compound(
        "UNION", (select(Item(N, "x"), source="edges"), select(D, source="edges"), select(NULL)), all=True
    ),
    "intersect": Compound(
        "INTERSECT", (select("i", source="edges"), select("j", source="edges"), select("n", source="edges"))
    ),
    "except all": Compound("EXCEPT", (select("i", source="edges"), select(ONE)), all=True),
    "joined": join(select("id", Item(Column("z"), "z"), source=EDGES), LISTED, "r", [Binary("=", K, Column("x", "r"))]),
    **{
        f"{kind} join": Select(
            (Item(Column("id")), *([] if kind in ("SEMI", "ANTI") else [Item(Column("y", "r"))])),
            EDGES,
            (Join(LISTED, kind, Binary("<=>", K, Column("x", "r"))),),
        )
        for kind in ("INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI")
    },
    "cross join": Select((Item(Column("id")), Item(Column("y", "r"))), EDGES, (Join(LISTED, "CROSS"),)),
    "joined unequally": Select(
        (Item(Column("id")), Item(Column("y", "r"))), EDGES, (Join(LISTED, "LEFT", Binary("<", N, Column("x", "r"))),)
    ),
    "in a query": where(select("id", source="edges", alias="e"), InQuery(Column("i", "e"), _AMONG)),
    "not in a query": where(select("id", source="edges", alias="e"), Unary("NOT", InQuery(Column("i", "e"), _AMONG))),
    "exists": replace(
        select("id", source="edges", alias="e"),
        where=Exists(Select((Item(ONE),), LISTED, where=Binary("=", Column("x", "r"), Column("i", "e")))),
    ),
    "the value of a query": select(
        "id", Item(Subquery(select(call("max", Column("i")), source="edges")), "m"), source="edges"
    ),
    "a count": Select((Item(Star()),), TableCall(call("range", Number("5")), "t", ("x",))),
    "a count with its end": Select(
        (Item(Column("x")),), TableCall(call("generate_series", Number("9"), ONE, Unary("-", TWO)), "t", ("x",))
    ),
    "a list": Select((Item(List((ONE, TWO)), "l"),)),
    "other names": Select(
        (Item(Column("q")), Item(Column("b", "o"), "c")), source_of(Derived(FEW.query, "o", ("q", "b", "c", "d")))
    ),
}
