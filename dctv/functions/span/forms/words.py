"""Words of the forms' queries: calls, windows, joins and steps, which name their columns alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dctv.plan.sql import aliased, column, identifier, table

LAST = exp.Literal.number("9223372036854775807")
"""The last time, which no span covers."""
FIRST = exp.Neg(this=exp.Literal.number("9223372036854775808"))
"""The first time."""
NULL = exp.Null()


@dataclass(frozen=True, slots=True)
class Step:
    """A table of a form's query: spans have `ts`, `end`, the partition's `k0`..., and values."""

    name: str
    values: tuple[str, ...] = ()


def keys(count: int) -> list[str]:
    """Name the partition columns of a step."""
    return [f"k{number}" for number in range(count)]


def number(value: int) -> exp.Expr:
    """Write an integer."""
    literal = exp.Literal.number(str(abs(value)))
    return exp.Neg(this=literal) if value < 0 else literal


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """Call a function."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def cast(value: exp.Expr, to: str) -> exp.Expr:
    """Cast to a type of the engine."""
    return exp.Cast(this=value, to=exp.Var(this=to))


def plus(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    """Add."""
    return exp.Paren(this=exp.Add(this=a, expression=b))


def minus(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    """Subtract."""
    return exp.Paren(this=exp.Sub(this=a, expression=b))


def greater(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    """Say that one is greater."""
    return exp.GT(this=a, expression=b)


def least(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    """Choose the smaller."""
    return call("least", a, b)


def is_null(value: exp.Expr) -> exp.Expr:
    """Say that a value is NULL."""
    return exp.Is(this=value, expression=exp.Null())


def case(*branches: tuple[exp.Expr, exp.Expr], default: exp.Expr | None = None) -> exp.Expr:
    """Choose the value of the first test that holds."""
    return exp.Case(ifs=[exp.If(this=test, true=value) for test, value in branches], default=default)


def error(*parts: exp.Expr | str) -> exp.Expr:
    """Stop the query with a message; it stands where a time may stand."""
    texts = [
        exp.Literal.string(p)
        if isinstance(p, str)
        else call("coalesce", cast(p, "VARCHAR"), exp.Literal.string("NULL"))
        for p in parts
    ]
    return cast(call("error", call("concat", *texts)), "BIGINT")


def duration(ts: exp.Expr, end: exp.Expr, *too_long: exp.Expr | str) -> exp.Expr:
    """Subtract times that may lie so far apart that no duration says it."""
    latest = plus(LAST.copy(), least(ts.copy(), number(0)))
    far = exp.and_(greater(number(0), ts.copy()), greater(end.copy(), latest))
    return case((far, error(*too_long)), default=minus(end, ts))


def over(what: exp.Expr, partition: Sequence[exp.Expr] = (), order: Iterable[exp.Expr] = ()) -> exp.Expr:
    """Compute over a window; order is ascending with NULLs last."""
    terms = [exp.Ordered(this=term, nulls_first=False) for term in order]
    window = exp.Window(this=what, partition_by=list(partition))
    if terms:
        window.set("order", exp.Order(expressions=terms))
    return window


def columns(names: Iterable[str], owner: str | None = None) -> list[exp.Expr]:
    """Name columns."""
    return [column(name, owner) for name in names]


def select(*items: exp.Expr | str, source: str | exp.Expr, alias: str | None = None) -> exp.Select:
    """Select columns or aliased values from a step or a query."""
    expressions = [column(i, alias) if isinstance(i, str) else i for i in items]
    if isinstance(source, str):
        return exp.Select(expressions=expressions).from_(table(source, alias))
    return exp.Select(expressions=expressions).from_(
        exp.Subquery(this=source, alias=exp.TableAlias(this=identifier(alias or "step")))
    )


def named(value: exp.Expr, name: str) -> exp.Expr:
    """Name a value."""
    return aliased(value, name)


def same(names: Iterable[str], a: str, b: str) -> list[exp.Expr]:
    """Say that columns of two tables agree, NULL with NULL."""
    return [exp.NullSafeEQ(this=column(name, a), expression=column(name, b)) for name in names]


def join(query: exp.Select, source: str, alias: str, on: Sequence[exp.Expr], how: str = "") -> exp.Select:
    """Join a step; how is a word or two, such as `ASOF LEFT`; without conditions it is a cross join."""
    words = how.split()
    made = exp.Join(this=table(source, alias))
    if "ASOF" in words:
        made.set("method", "ASOF")
    sides = [w for w in words if w != "ASOF"]
    if sides:
        made.set("kind" if sides[0] in ("SEMI", "ANTI") else "side", sides[0])
    if on:
        made.set("on", exp.and_(*on, copy=False))
    else:
        made.set("kind", "CROSS")
    query.append("joins", made)
    return query


def where(query: exp.Select, *tests: exp.Expr) -> exp.Select:
    """Filter."""
    return query.where(*tests, copy=False)


def grouped(query: exp.Select, names: Iterable[str]) -> exp.Select:
    """Group by columns; without any, the whole is one group."""
    found = columns(names)
    if found:
        query.set("group", exp.Group(expressions=found))
    return query


def both(first: exp.Query, *more: exp.Query) -> exp.Query:
    """Put rows of several queries together."""
    whole = first
    for query in more:
        whole = exp.Union(this=whole, expression=query, distinct=False)
    return whole


def with_steps(query: exp.Query, steps: Iterable[tuple[str, exp.Query]], recursive: str | None = None) -> exp.Query:
    """Put the steps that a query reads before it; each is computed once, the named one reads itself."""
    tables = [
        exp.CTE(this=step, alias=exp.TableAlias(this=identifier(name)), materialized=name != recursive or None)
        for name, step in steps
    ]
    query.set("with_", exp.With(expressions=tables, recursive=recursive is not None))
    return query
