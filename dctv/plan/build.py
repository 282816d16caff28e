"""Helpers to build expressions and queries: literals, calls, windows, joins, steps, and errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dctv.plan.expressions import (
    FALSE,
    NULL,
    And,
    Binary,
    Call,
    Case,
    Cast,
    Column,
    Expression,
    Frame,
    FrameEnd,
    IsNull,
    Number,
    Or,
    Ordered,
    Star,
    StartOf,
    Text,
    Unary,
    Window,
)
from dctv.plan.node import Query
from dctv.plan.nodes import physical_names
from dctv.plan.queries import CommonTable, Compound, Derived, FromItem, Group, Item, Join, JoinKind, Select, TableName
from dctv.record import replace
from dctv.types.schema import Schema

STAR = Item(Star())


def columns(names: Iterable[str], table: str | None = None) -> list[Expression]:
    """Name several columns."""
    return [Column(name, table) for name in names]


def named(values: Iterable[Expression], names: Iterable[str]) -> list[Item]:
    """Name result columns."""
    return [Item(value, name) for value, name in zip(values, names, strict=True)]


def number(value: int) -> Expression:
    """Write an integer, of the type that the engine finds fit."""
    return Unary("-", Number(str(-value))) if value < 0 else Number(str(value))


def int64(value: int) -> Expression:
    """Write an int64."""
    return Cast(Text(str(value)), "BIGINT")


def call(name: str, *arguments: Expression) -> Call:
    """Call a function."""
    return Call(name, arguments)


def plus(a: Expression, b: Expression) -> Expression:
    """Add."""
    return Binary("+", a, b)


def minus(a: Expression, b: Expression) -> Expression:
    """Subtract."""
    return Binary("-", a, b)


def times(a: Expression, b: Expression) -> Expression:
    """Multiply."""
    return Binary("*", a, b)


def wide_product(left: Expression, right: Expression) -> Expression:
    """Multiply two 64-bit integers in 128 bits, which hold any such product."""
    return times(Cast(left, "HUGEINT"), right)


def equal(a: Expression, b: Expression) -> Expression:
    """Build a test that two values are equal, and neither is NULL."""
    return Binary("=", a, b)


def unequal(a: Expression, b: Expression) -> Expression:
    """Build a test that two values differ, and neither is NULL."""
    return Binary("!=", a, b)


def not_distinct(a: Expression, b: Expression) -> Expression:
    """Build a test that two values are equal, or both NULL."""
    return Binary("<=>", a, b)


def greater(a: Expression, b: Expression) -> Expression:
    """Build a test that `a` is greater than `b`."""
    return Binary(">", a, b)


def at_least(a: Expression, b: Expression) -> Expression:
    """Build a test that `a` is not less than `b`."""
    return Binary(">=", a, b)


def agree(names: Iterable[str], a: str, b: str) -> list[Expression]:
    """Build tests that columns of two tables agree, NULL with NULL."""
    return [not_distinct(Column(name, a), Column(name, b)) for name in names]


def negated(test: Expression) -> Expression:
    """Negate a test."""
    return Unary("NOT", test)


def is_not_null(value: Expression) -> Expression:
    """Build a test that a value is not NULL."""
    return negated(IsNull(value))


def all_of(tests: Iterable[Expression]) -> Expression | None:
    """Build the conjunction of tests; None if there are none."""
    parts = [part for test in tests for part in (test.parts if isinstance(test, And) else (test,))]
    return None if not parts else parts[0] if len(parts) == 1 else And(tuple(parts))


def any_of(tests: Iterable[Expression]) -> Expression:
    """Build the disjunction of tests; false if there are none."""
    parts = [part for test in tests for part in (test.parts if isinstance(test, Or) else (test,))]
    return FALSE if not parts else parts[0] if len(parts) == 1 else Or(tuple(parts))


def least(a: Expression, b: Expression) -> Expression:
    """Choose the smaller; NULL only if both are."""
    return call("least", a, b)


def case(*branches: tuple[Expression, Expression], default: Expression | None = None) -> Case:
    """Choose the value of the first test that holds."""
    return Case(branches, default)


def start_by_name(node: StartOf) -> Expression:
    """Return the CASE that looks up the start of a trace by its name."""
    if not node.starts.of:
        return Cast(NULL, "BIGINT")
    branches = tuple((Text(name), number(start)) for name, start in node.starts.of.items())
    return Cast(Case(branches, operand=node.trace), "BIGINT")


def error(*parts: Expression | str) -> Expression:
    """Build an expression that stops the query with a message; its type is that of a time."""
    texts = [Text(p) if isinstance(p, str) else call("coalesce", Cast(p, "VARCHAR"), Text("NULL")) for p in parts]
    return Cast(call("error", call("concat", *texts)), "BIGINT")


def ascending(terms: Iterable[Expression]) -> tuple[Ordered, ...]:
    """Order by terms, ascending and NULLs last, unless a term has its own order."""
    return tuple(term if isinstance(term, Ordered) else Ordered(term) for term in terms)


def by_names(names: Iterable[str], table: str | None = None) -> tuple[Ordered, ...]:
    """Order by columns, NULLs last."""
    return ascending(columns(names, table))


def descending(term: Expression) -> Ordered:
    """Order by a term, the greatest first."""
    return Ordered(term, descending=True)


ROW_NUMBER = Window(call("row_number"))
"""The number of a row in the order in which rows come, from 1."""
_BEFORE = Frame("ROWS", FrameEnd("UNBOUNDED PRECEDING"), FrameEnd("PRECEDING", Number("1")))


def over(
    what: Call, partition: Iterable[Expression] = (), order: Iterable[Expression] = (), *, before: bool = False
) -> Window:
    """Compute over a window; with an order up to the row and its equals, or over the rows before it."""
    return Window(what, tuple(partition), ascending(order), _BEFORE if before else None)


def source_of(source: str | Query | FromItem, alias: str | None = None) -> FromItem:
    """Return the FROM item of a table, by its name, or of a query."""
    if isinstance(source, FromItem):
        return source
    return TableName(source, alias) if isinstance(source, str) else Derived(source, alias or "step")


def select(
    *items: Expression | Item | str, source: str | Query | FromItem | None = None, alias: str | None = None
) -> Select:
    """Select columns (by name, of the alias if there is one), other expressions and items."""
    made = tuple(
        Item(Column(i, alias)) if isinstance(i, str) else Item(i) if isinstance(i, Expression) else i for i in items
    )
    return Select(made, None if source is None else source_of(source, alias))


def adding(query: Select, *items: Expression | Item) -> Select:
    """Select more."""
    return replace(query, items=(*query.items, *(i if isinstance(i, Item) else Item(i) for i in items)))


def where(query: Select, *tests: Expression | None) -> Select:
    """Add conditions to WHERE."""
    return replace(query, where=all_of(test for test in (query.where, *tests) if test is not None))


def join(
    query: Select, source: str | Query | FromItem, alias: str, on: Iterable[Expression] = (), how: str = "INNER"
) -> Select:
    """Join a table; how is a kind of join, maybe after `ASOF`; without conditions it is a cross join."""
    *asof, kind = how.split()
    if kind == "ASOF":
        asof, kind = [kind], "INNER"
    test = all_of(on)
    kinds: dict[str, JoinKind] = {"LEFT": "LEFT", "RIGHT": "RIGHT", "FULL": "FULL", "SEMI": "SEMI", "ANTI": "ANTI"}
    made = Join(source_of(source, alias), kinds.get(kind, "INNER") if test is not None else "CROSS", test, bool(asof))
    return replace(query, joins=(*query.joins, made))


def grouped(query: Select, keys: Iterable[str | Expression]) -> Select:
    """Group by columns; without any, the whole is one group."""
    found = tuple(Column(key) if isinstance(key, str) else key for key in keys)
    return replace(query, group=Group(found)) if found else query


def distinct(query: Select) -> Select:
    """Keep one of equal rows."""
    return replace(query, distinct=True)


def sorted_by(query: Select, *terms: Expression) -> Select:
    """Sort by terms, ascending and NULLs last, unless a term has its own order."""
    return replace(query, order_by=ascending(terms))


def union_all(*queries: Query) -> Query:
    """Put all rows of several queries together."""
    return concatenated(queries)


def concatenated(queries: Sequence[Query]) -> Query:
    """Concatenate the rows of one or more queries."""
    return queries[0] if len(queries) == 1 else Compound("UNION", tuple(queries), all=True)


def with_steps(query: Select, steps: Iterable[tuple[str, Query]], recursive: str | None = None) -> Select:
    """Put the steps that a query reads before it; each is computed once, the named one reads itself."""
    tables = [CommonTable(name, step, materialized=name != recursive or None) for name, step in steps]
    return replace(query, steps=tuple(tables), recursive=recursive is not None)


_READ_AS_THEY_ARE = frozenset(("VARCHAR", "BOOLEAN", "DOUBLE", "TINYINT", "SMALLINT", "INTEGER", "BIGINT"))
"""Types of columns that an engine finds with the type that their schema names; JSON may be a text to it."""


def as_type(value: Expression, wanted: str, types: Mapping[str, str], *, lenient: bool = False) -> Expression:
    """Cast a value to a type, unless it is a column that has this type already.

    An engine would drop such a cast, too, but only after it has parsed it: a view reads dozens of tables.
    """
    if isinstance(value, Column) and wanted in _READ_AS_THEY_ARE and types.get(value.name) == wanted:
        return value
    return Cast(value, wanted, lenient=lenient)


def typed_nothing(schema: Schema) -> Select:
    """Return a query without rows that has the columns of a schema."""
    made = [Cast(NULL, one.type) for one in schema.columns]
    items = named(made, physical_names(schema))
    return Select(tuple(items or [Item(Number("1"))]), where=FALSE)
