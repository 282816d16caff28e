"""Random span tables, and random queries over them with the result that they must have."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hypothesis import strategies as st

from dctv.errors import DctvError
from dctv.session import Session
from tests.bounds import EXPLORE
from tests.semantics import oracle
from tests.semantics.clocks import Clock
from tests.semantics.oracle import END, MIX, Span, Spans, Value

_POOLS: dict[str, list[Value]] = {"p": [0, 1, None], "q": ["", "x", None]}
MOST_SPANS, MOST_PARTITIONS = (16, 6) if EXPLORE else (7, 3)
_MOMENTS = re.compile(r"/\*(\d+)-(\d+)\*/-?\d+, \d+")
"""The small times of a span, noted beside what is written for its `_ts` and `_duration`."""
PAYLOADS = st.one_of(st.none(), st.integers(-5, 5))


class Written(str):
    """A value as it is written in SQL."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Query:
    """A SELECT SPAN with one payload column `v`, and what it gives."""

    sql: str
    table: Spans


def moved(sql: str, clock: Clock) -> str:
    """Return a query over the same spans at the times that a clock gives."""

    def move(found: re.Match[str]) -> str:
        start, stop = clock[int(found[1])], clock[int(found[2])]
        return f"/*{found[1]}-{found[2]}*/{start}, {stop - start}"

    return _MOMENTS.sub(move, sql)


def literal(value: Value) -> str:
    """Write a value in SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, Written):
        return value
    return f"'{value}'" if isinstance(value, str) else str(value)


def values(columns: list[str], rows: list[tuple[Value, ...]], types: list[str]) -> str:
    """Write rows as a regular table, which may be empty."""
    body = ", ".join(f"({', '.join(literal(v) for v in row)})" for row in rows)
    casts = ", ".join(f"{c}::{t} AS {c}" for c, t in zip(columns, types, strict=True))
    nothing = f"({', '.join('NULL' for _ in columns)})"
    where = "" if rows else " WHERE false"
    return f"(SELECT {casts} FROM (VALUES {body or nothing}) AS t({', '.join(columns)}){where})"


@st.composite
def _sequence(draw: st.DrawFn, most: int) -> tuple[Span, ...]:
    bounds = sorted(draw(st.lists(st.integers(0, END), max_size=most, unique=True)))
    used = draw(st.lists(st.booleans(), min_size=len(bounds), max_size=len(bounds)))
    pairs = zip(bounds, bounds[1:], used[1:], strict=False)
    return tuple((start, stop, draw(PAYLOADS)) for start, stop, use in pairs if use)


@st.composite
def leaves(draw: st.DrawFn, partitions: tuple[str, ...]) -> Query:
    """Draw a separate table."""
    keys = (
        [()]
        if not partitions
        else draw(
            st.lists(
                st.tuples(*(st.sampled_from(_POOLS[c]) for c in partitions)), max_size=MOST_PARTITIONS, unique=True
            )
        )
    )
    table = Spans(partitions, {key: draw(_sequence(MOST_SPANS)) for key in keys})
    rows = [
        (Written(f"/*{start}-{stop}*/{start}"), stop - start, *key, v)
        for key, spans in table.spans.items()
        for start, stop, v in spans
    ]
    rows = draw(st.permutations(rows))
    types = ["BIGINT", "BIGINT", *("INT" if c == "p" else "STRING" for c in partitions), "BIGINT"]
    data = values(["_ts", "_duration", *partitions, "v"], rows, types)
    names = ", ".join(f'"{c}"' for c in partitions)
    by = f", partition=>[{names}]" if partitions else ""
    return Query(f"SELECT SPAN * FROM dctv.as_spans({data}{by})", table)


@st.composite
def queries(draw: st.DrawFn, partitions: tuple[str, ...], depth: int) -> Query:
    """Draw a query whose result has the given partition columns."""
    if depth == 0:
        return draw(leaves(partitions))
    fitting = [shape for shape, possible in POSSIBLE.items() if partitions in possible]
    return draw(shaped(draw(st.sampled_from(fitting)), partitions, depth - 1))


def shaped(shape: str, partitions: tuple[str, ...], depth: int) -> st.SearchStrategy[Query]:
    """Return queries with one operator on top, and inputs of a depth."""
    return _SHAPES[shape](partitions, depth)


@st.composite
def _joined(draw: st.DrawFn, partitions: tuple[str, ...], depth: int) -> Query:
    kind = draw(st.sampled_from(["INNER", "OUTER", "LEFT", "RIGHT"]))
    left, right = draw(queries(partitions, depth)), draw(queries(partitions, depth))
    least = draw(st.one_of(st.none(), st.integers(-4, 4)))
    where = "" if least is None else f" WHERE b.v >= {least}"
    kept = right.table if least is None else oracle.keep(right.table, least)
    sql = f"SELECT SPAN {MIX.format(a='a.v', b='b.v')} AS v FROM ({left.sql}) AS a SPAN {kind} JOIN ({right.sql}) AS b"
    return Query(sql + where, oracle.span_join(left.table, kept, kind))


@st.composite
def _broadcast(draw: st.DrawFn, partitions: tuple[str, ...], depth: int) -> Query:
    kind, into = draw(st.sampled_from(["INNER", "OUTER"])), draw(st.booleans())
    wide, flat = draw(queries(partitions, depth)), draw(queries((), depth))
    first, second = (flat, wide) if into else (wide, flat)
    word = "INTO" if into else "FROM"
    columns = f"SELECT SPAN {MIX.format(a='a.v', b='b.v')} AS v"
    sql = f"{columns} FROM ({first.sql}) AS a SPAN {kind} BROADCAST {word} ({second.sql}) AS b"
    return Query(sql, oracle.broadcast(wide.table, flat.table, kind, flat_first=into))


@st.composite
def _filtered(draw: st.DrawFn, partitions: tuple[str, ...], depth: int) -> Query:
    inner, least = draw(queries(partitions, depth)), draw(st.integers(-4, 4))
    word = draw(st.sampled_from(["WHERE", "HAVING"]))
    return Query(f"SELECT SPAN v FROM ({inner.sql}) {word} v >= {least}", oracle.keep(inner.table, least))


@st.composite
def _distinct(draw: st.DrawFn, partitions: tuple[str, ...], depth: int) -> Query:
    inner = draw(queries(partitions, depth))
    return Query(f"SELECT SPAN DISTINCT v FROM ({inner.sql})", oracle.distinct(inner.table))


def _number(name: str) -> str:
    return f"unitless({name})" if "_" in name else name


@st.composite
def _grouped(draw: st.DrawFn, partitions: tuple[str, ...], depth: int) -> Query:
    inner, grouper = draw(queries(partitions, depth)), draw(queries((), depth))
    intersect, name = draw(st.booleans()), draw(st.sampled_from(sorted(oracle.AGGREGATES)))
    how = "AND INTERSECT " if intersect else draw(st.sampled_from(["", "AND UNION "]))
    sql = f"SELECT SPAN {_number(name)} AS v FROM ({inner.sql}) GROUP {how}USING SPANS FROM ({grouper.sql})"
    return Query(sql, oracle.group(inner.table, grouper.table, name, intersect=intersect))


@st.composite
def _departitioned(draw: st.DrawFn, partitions: tuple[str, ...], depth: int) -> Query:
    whole = ("p", "q") if partitions else draw(st.sampled_from([("p",), ("q",), ("p", "q")]))
    removed = tuple(c for c in whole if c not in partitions)
    inner, intersect = draw(queries(whole, depth)), draw(st.booleans())
    name = draw(st.sampled_from(sorted(oracle.AGGREGATES)))
    how = "AND INTERSECT " if intersect else draw(st.sampled_from(["", "AND UNION "]))
    names = f" ({', '.join(removed)})" if removed != whole or draw(st.booleans()) else ""
    sql = f"SELECT SPAN {_number(name)} AS v FROM ({inner.sql}) GROUP {how}USING PARTITION{names}"
    return Query(sql, oracle.departition(inner.table, removed, name, intersect=intersect))


_ANY: list[tuple[str, ...]] = [(), ("p",), ("q",), ("p", "q")]
POSSIBLE: dict[str, list[tuple[str, ...]]] = {
    "join": _ANY,
    "broadcast": _ANY[1:],
    "filter": _ANY,
    "distinct": _ANY,
    "group": _ANY,
    "departition": _ANY[:3],
}
"""The operators, and the partition columns that their results may have."""

_SHAPES = {
    "join": _joined,
    "broadcast": _broadcast,
    "filter": _filtered,
    "distinct": _distinct,
    "group": _grouped,
    "departition": _departitioned,
}


def outcome(session: Session, sql: str, params: list[object] | None = None) -> list[tuple[object, ...]] | str:
    """Run a query: its rows, or the text of its error."""
    try:
        return session.sql(sql, params).fetchall()
    except DctvError as error:
        return str(error)
