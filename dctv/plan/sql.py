"""Small pieces of the engine's SQL: names, literals, calls, windows, joins, steps of queries, and what stops one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from sqlglot import exp

from dctv.plan.nodes import physical_names
from dctv.types.schema import Schema

NULL = exp.Null()


def identifier(name: str) -> exp.Identifier:
    """Quote a name for the engine."""
    return exp.to_identifier(name, quoted=True)


def table(name: str, alias: str | None = None) -> exp.Table:
    """Name a table of the engine's query."""
    return exp.Table(this=identifier(name), alias=None if alias is None else exp.TableAlias(this=identifier(alias)))


def column(name: str, owner: str | None = None) -> exp.Column:
    """Name a column, maybe with its table."""
    return exp.column(name, owner, quoted=True)


def columns(names: Iterable[str], owner: str | None = None) -> list[exp.Expr]:
    """Name several columns."""
    return [column(name, owner) for name in names]


def aliased(sql: exp.Expr, name: str) -> exp.Alias:
    """Name a result column."""
    return exp.Alias(this=sql, alias=identifier(name))


def named(values: Iterable[exp.Expr], names: Iterable[str]) -> list[exp.Expr]:
    """Name result columns."""
    return [aliased(value, name) for value, name in zip(values, names, strict=True)]


def number(value: int) -> exp.Expr:
    """Write an integer, of the type that the engine finds fit."""
    literal = exp.Literal.number(str(abs(value)))
    return exp.Neg(this=literal) if value < 0 else literal


def whole(value: int) -> exp.Expr:
    """Write an int64."""
    return cast(text(str(value)), "BIGINT")


def text(words: str) -> exp.Expr:
    """Write a string."""
    return exp.Literal.string(words)


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """Call a function."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def type_named(name: str) -> exp.DataType:
    """Name a type of the engine."""
    return exp.DataType(this=exp.DType.USERDEFINED, kind=name)


def cast(value: exp.Expr, to: str) -> exp.Expr:
    """Cast to a type of the engine."""
    return exp.Cast(this=value, to=type_named(to))


def plus(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    """Add."""
    return exp.Paren(this=exp.Add(this=a, expression=b))


def minus(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    """Subtract."""
    return exp.Paren(this=exp.Sub(this=a, expression=b))


def equal(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    """Say that two are equal, and neither is NULL."""
    return exp.EQ(this=a, expression=b)


def greater(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    """Say that one is greater."""
    return exp.GT(this=a, expression=b)


def at_least(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    """Say that one is not less."""
    return exp.GTE(this=a, expression=b)


def agree(names: Iterable[str], a: str, b: str) -> list[exp.Expr]:
    """Say that columns of two tables agree, NULL with NULL."""
    return [exp.NullSafeEQ(this=column(name, a), expression=column(name, b)) for name in names]


def is_null(value: exp.Expr) -> exp.Expr:
    """Say that a value is NULL."""
    return exp.Is(this=value, expression=exp.Null())


def known(value: exp.Expr) -> exp.Expr:
    """Say that a value is not NULL."""
    return exp.Not(this=is_null(value))


def any_of(tests: Iterable[exp.Expr]) -> exp.Expr:
    """Say that one of some tests holds."""
    return exp.Paren(this=reduce(lambda a, b: exp.Or(this=a, expression=b), list(tests)))


def least(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    """Choose the smaller; NULL only if both are."""
    return call("least", a, b)


def case(*branches: tuple[exp.Expr, exp.Expr], default: exp.Expr | None = None) -> exp.Expr:
    """Choose the value of the first test that holds."""
    return exp.Case(ifs=[exp.If(this=test, true=value) for test, value in branches], default=default)


def error(*parts: exp.Expr | str) -> exp.Expr:
    """Stop the query with a message; it stands where a time may stand."""
    texts = [text(p) if isinstance(p, str) else call("coalesce", cast(p, "VARCHAR"), text("NULL")) for p in parts]
    return cast(call("error", call("concat", *texts)), "BIGINT")


def ascending(*terms: exp.Expr) -> exp.Order:
    """Order by terms, NULLs last; a term may say itself how."""
    return exp.Order(
        expressions=[t if isinstance(t, exp.Ordered) else exp.Ordered(this=t, nulls_first=False) for t in terms]
    )


def descending(term: exp.Expr) -> exp.Ordered:
    """Order by a term, the greatest first."""
    return exp.Ordered(this=term, desc=True, nulls_first=False)


def over(
    what: exp.Expr, partition: Sequence[exp.Expr] = (), order: Iterable[exp.Expr] = (), *, before: bool = False
) -> exp.Expr:
    """Compute over a window; with an order up to the row and its equals, or over the rows before it."""
    terms = list(order)
    frame = exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="1", end_side="PRECEDING")
    return exp.Window(
        this=what,
        partition_by=list(partition),
        order=ascending(*terms) if terms else None,
        spec=frame if before else None,
    )


def subquery(query: exp.Query, alias: str) -> exp.Subquery:
    """Let a query stand in FROM."""
    return exp.Subquery(this=query, alias=exp.TableAlias(this=identifier(alias)))


def select(*items: exp.Expr | str, source: str | exp.Query, alias: str | None = None) -> exp.Select:
    """Select columns or aliased values from a table or a query."""
    expressions = [column(i, alias) if isinstance(i, str) else i for i in items]
    whole = table(source, alias) if isinstance(source, str) else subquery(source, alias or "step")
    return exp.Select(expressions=expressions).from_(whole)


def where(query: exp.Select, *tests: exp.Expr) -> exp.Select:
    """Filter."""
    return query.where(*tests, copy=False)


def join(query: exp.Select, source: str, alias: str, on: Sequence[exp.Expr], how: str = "") -> exp.Select:
    """Join a table; how is a word or two, such as `ASOF LEFT`; without conditions it is a cross join."""
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


def grouped(query: exp.Select, names: Iterable[str]) -> exp.Select:
    """Group by columns; without any, the whole is one group."""
    found = columns(names)
    if found:
        query.set("group", exp.Group(expressions=found))
    return query


def both(*queries: exp.Query) -> exp.Query:
    """Put rows of several queries together."""
    return reduce(lambda a, b: exp.Union(this=a, expression=b, distinct=False), queries)


def with_steps(query: exp.Query, steps: Iterable[tuple[str, exp.Query]], recursive: str | None = None) -> exp.Query:
    """Put the steps that a query reads before it; each is computed once, the named one reads itself."""
    tables = [
        exp.CTE(this=step, alias=exp.TableAlias(this=identifier(name)), materialized=name != recursive or None)
        for name, step in steps
    ]
    query.set("with_", exp.With(expressions=tables, recursive=recursive is not None))
    return query


def typed_nothing(schema: Schema) -> exp.Select:
    """Return a query without rows that has the columns of a schema."""
    made = [cast(exp.Null(), one.type) for one in schema.columns]
    items = named(made, physical_names(schema))
    return exp.Select(expressions=items or [exp.Literal.number("1")]).where(exp.Boolean(this=False))
