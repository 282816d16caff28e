"""Small pieces of the engine's SQL for forms of span operators: calls, windows, sums, tests that stop a query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from sqlglot import exp

from dctv.plan.sql import aliased, column, subquery, table


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """Call a function of the engine."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def bigint(value: exp.Expr) -> exp.Expr:
    """Cast to int64."""
    return exp.Cast(this=value, to=exp.Var(this="BIGINT"))


def whole(number: int) -> exp.Expr:
    """Write an int64."""
    return bigint(exp.Literal.string(str(number)))


def text(words: str) -> exp.Expr:
    """Write a string."""
    return exp.Literal.string(words)


def plus(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Add."""
    return exp.Paren(this=exp.Add(this=left, expression=right))


def minus(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Subtract."""
    return exp.Paren(this=exp.Sub(this=left, expression=right))


def less(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Say whether one is less than the other."""
    return exp.LT(this=left, expression=right)


def at_most(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Say whether one is not greater than the other."""
    return exp.LTE(this=left, expression=right)


def same(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Say whether two values are equal; NULL equals NULL."""
    return exp.NullSafeEQ(this=left, expression=right)


def is_null(value: exp.Expr) -> exp.Expr:
    """Say whether a value is NULL."""
    return exp.Is(this=value, expression=exp.Null())


def every(tests: Iterable[exp.Expr]) -> exp.Expr:
    """Say whether all tests hold; true without tests."""
    parts = list(tests)
    return reduce(lambda a, b: exp.And(this=a, expression=b), parts) if parts else exp.Boolean(this=True)


def any_of(tests: Iterable[exp.Expr]) -> exp.Expr:
    """Say whether one of some tests holds."""
    return exp.Paren(this=reduce(lambda a, b: exp.Or(this=a, expression=b), list(tests)))


def chosen(test: exp.Expr, value: exp.Expr, other: exp.Expr) -> exp.Expr:
    """Return a value where a test holds, another elsewhere."""
    return exp.Case(ifs=[exp.If(this=test, true=value)], default=other)


def stopping(test: exp.Expr, message: Sequence[exp.Expr], value: exp.Expr) -> exp.Expr:
    """Return an int64, or stop the query where a test holds."""
    return chosen(test, bigint(call("error", call("concat", *message))), value)


def ascending(*terms: exp.Expr) -> exp.Order:
    """Order by terms, NULL last."""
    return exp.Order(expressions=[exp.Ordered(this=term, nulls_first=False) for term in terms])


def descending(term: exp.Expr) -> exp.Ordered:
    """Order by a term, the greatest first."""
    return exp.Ordered(this=term, desc=True, nulls_first=False)


def over(
    function: exp.Expr, partitions: Sequence[exp.Expr], order: exp.Order | None = None, rows: str | None = None
) -> exp.Expr:
    """Make a window function; `rows` is where the window ends: `before` or `until` the present row."""
    frame = None
    if rows is not None:
        end = {"end": "1", "end_side": "PRECEDING"} if rows == "before" else {"end": "CURRENT ROW"}
        frame = exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", **end)
    return exp.Window(this=function, partition_by=list(partitions), order=order, spec=frame)


def columns(names: Iterable[str], owner: str | None = None) -> list[exp.Expr]:
    """Name several columns."""
    return [column(name, owner) for name in names]


def select(items: Sequence[exp.Expr], source: exp.Expr | str, *tests: exp.Expr) -> exp.Select:
    """Select from a table, named or a subquery, the rows for which all tests hold."""
    tree = exp.Select(expressions=list(items)).from_(table(source) if isinstance(source, str) else source)
    return tree.where(every(tests), copy=False) if tests else tree


def nested(query: exp.Query, items: Sequence[exp.Expr], *tests: exp.Expr, alias: str = "made") -> exp.Select:
    """Select from a query."""
    return select(items, subquery(query, alias), *tests)


def stacked(*queries: exp.Query) -> exp.Query:
    """Return the rows of all queries."""
    return reduce(lambda a, b: exp.Union(this=a, expression=b, distinct=False), queries)


def named(values: Iterable[exp.Expr], names: Iterable[str]) -> list[exp.Expr]:
    """Name result columns."""
    return [aliased(value, name) for value, name in zip(values, names, strict=True)]


def with_tables(query: exp.Select, **tables: exp.Query) -> exp.Select:
    """Put common tables before a query; one that is read twice is computed once."""
    common = [exp.CTE(this=made, alias=exp.TableAlias(this=exp.to_identifier(name))) for name, made in tables.items()]
    query.set("with_", exp.With(expressions=common))
    return query
