"""Write queries of the plan as DuckDB's SQL."""

from __future__ import annotations

from functools import lru_cache
from uuid import uuid4

from dctv.engines.sql import trees
from dctv.errors import Place
from dctv.patterns import pattern
from dctv.plan.expressions import Call, Text
from dctv.plan.node import Query
from dctv.plan.queries import Compound, Select, TableCall
from dctv.record import replace


def write(query: Query) -> str:
    """Write a query; parts are cached, since many queries read the same views, and all traces of a fleet do."""
    if isinstance(query, Select | Compound) and query.steps:
        steps = tuple(replace(step, query=trees.WrittenQuery(_text(step.query))) for step in query.steps)
        before = trees.steps(steps, recursive=query.recursive).sql(dialect="duckdb", copy=False)
        return f"{before} {_text(replace(query, steps=(), recursive=False))}"
    return _text(query)


def _text(query: Query) -> str:
    match query:
        case Select(source=TableCall(Call("read_parquet", (Text() as file, *options)) as call) as source):
            # The files of a fleet's traces differ in nothing but their paths.
            any_file = replace(source, call=replace(call, arguments=(_ANY_FILE, *options)))
            return _written(replace(query, source=any_file)).replace(_literal(_ANY_FILE), _literal(file), 1)
        case _:
            return _written(query)


@lru_cache(maxsize=1000)
def _written(query: Query) -> str:
    if isinstance(query, Select | Compound) and query.steps:
        return write(query)
    return trees.query(query).sql(dialect="duckdb", copy=False)


def _literal(text: Text) -> str:
    return trees.expression(text).sql(dialect="duckdb", copy=False)


_ANY_FILE = Text(uuid4().hex)
"""Stands for the path of a file; no name in a trace can be the same."""


_MARK = "dctv: expression {}"
_MARKED = pattern(r" /\* dctv: expression (\d+) \*/")
_BEGINS = (b"CAST(", b"'")
"""How the expressions begin whose places are known, in SQL."""


def place_of(query: Query, sql: str, start: int, stop: int) -> Place | None:
    """Return where the expression is written whose SQL is at some bytes of that of a query; None if it is not known."""
    if not sql.encode()[start:stop].startswith(_BEGINS):
        return None
    places: list[Place] = []
    tree = trees.query(query)
    for node in list(tree.walk()):
        if trees.PLACE in node.meta:
            node.comments = [_MARK.format(len(places))]
            places.append(node.meta[trees.PLACE])
    *parts, rest = _MARKED.split(tree.sql(dialect="duckdb", copy=False))
    if "".join((*parts[::2], rest)) != sql:
        return None
    end = 0
    for part, number in zip(parts[::2], parts[1::2], strict=True):
        end += len(part.encode())
        if end == stop:
            return places[int(number)]
    return None
