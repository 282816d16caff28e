"""Expressions have the same value in Python, in the engine, and as EXPLAIN shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import add, eq, ge, gt, le, lt, mul, ne, sub

import duckdb
from hypothesis import given
from hypothesis import strategies as st

from dctv.engines.sql import trees
from dctv.engines.sql.duckdb import write
from dctv.plan import expressions as e
from dctv.plan import show
from dctv.plan.build import all_of, any_of, number, select
from dctv.plan.queries import Item, Rows
from dctv.session import Session
from tests.bounds import bounded

Value = int | bool | None
ROWS: list[dict[str, Value]] = [
    {"a": a, "b": b, "p": p, "q": q}
    for a, b, p, q in ((1, 2, True, None), (0, None, False, True), (-3, 2, None, False), (2, 2, True, True))
]
ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {"+": add, "-": sub, "*": mul}
COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
# These stand in windows only, which write them.
PARTS_OF_OTHERS = {e.Frame, e.FrameEnd}
# It stands for values in plans of several traces, and never in one that is run.
REPLACED = {e.OfTrace}
Expressions = st.SearchStrategy[e.Expression]


def _binary(operators: Mapping[str, object], operands: Expressions) -> Expressions:
    return st.builds(e.Binary, st.sampled_from(sorted(operators)), operands, operands)


def _numbers() -> Expressions:
    atoms = st.one_of(st.sampled_from([e.Column("a"), e.Column("b"), e.NULL]), st.integers(-3, 3).map(number))

    def larger(inner: Expressions) -> Expressions:
        return st.one_of(_binary(ARITHMETIC, inner), st.builds(e.Unary, st.just("-"), inner))

    return st.recursive(atoms, larger, max_leaves=5)


def _tests() -> Expressions:
    numbers = _numbers()
    atoms = st.one_of(
        st.sampled_from([e.Column("p"), e.Column("q"), e.TRUE, e.FALSE]),
        _binary(COMPARISONS, numbers),
        st.builds(e.Binary, st.sampled_from(["<=>", "<!=>"]), numbers, numbers),
        st.builds(e.IsNull, numbers),
        st.builds(e.Between, numbers, numbers, numbers),
        st.builds(e.InList, numbers, st.lists(numbers, min_size=1, max_size=3).map(tuple)),
    )

    def larger(inner: Expressions) -> Expressions:
        several = st.lists(inner, min_size=2, max_size=3)
        return st.one_of(
            several.map(all_of),
            several.map(any_of),
            st.builds(e.Unary, st.just("NOT"), inner),
            st.builds(e.IsNull, inner),
            st.builds(lambda test, value, other: e.Case(((test, value),), other), inner, inner, inner),
        )

    return st.recursive(atoms, larger, max_leaves=8)


def computed(node: e.Expression, row: Mapping[str, Value]) -> Value:
    """Compute an expression for a row, by the rules of SQL."""
    return FORMS[type(node)](node, row)


def _unary(node: e.Unary, row: Mapping[str, Value]) -> Value:
    value = computed(node.operand, row)
    if value is None:
        return None
    return not value if node.operator == "NOT" else -int(value)


def _chain(node: e.And | e.Or, row: Mapping[str, Value]) -> Value:
    """One value decides; else NULL does, if it is there."""
    decisive = isinstance(node, e.Or)
    values = [computed(part, row) for part in node.parts]
    if decisive in values:
        return decisive
    return None if None in values else not decisive


def _case(node: e.Case, row: Mapping[str, Value]) -> Value:
    ((test, value),) = node.branches
    assert node.default is not None
    return computed(value if computed(test, row) else node.default, row)


def _within(node: e.Between) -> e.Expression:
    return e.And((e.Binary(">=", node.operand, node.low), e.Binary("<=", node.operand, node.high)))


FORMS: Mapping[type, Callable[..., Value]] = {
    e.Column: lambda node, row: row[node.name],
    e.Null: lambda _, __: None,
    e.Boolean: lambda node, _: node.value,
    e.Number: lambda node, _: int(node.text),
    e.Unary: _unary,
    e.Binary: lambda node, row: _compared(node.operator, computed(node.left, row), computed(node.right, row)),
    e.And: _chain,
    e.Or: _chain,
    e.IsNull: lambda node, row: computed(node.operand, row) is None,
    e.Between: lambda node, row: computed(_within(node), row),
    e.InList: lambda node, row: computed(any_of(e.Binary("=", node.operand, one) for one in node.items), row),
    e.Case: _case,
}


def _compared(operator: str, left: Value, right: Value) -> Value:
    if operator in ("<=>", "<!=>"):
        return (left == right) is (operator == "<=>")
    if left is None or right is None:
        return None
    return {**ARITHMETIC, **COMPARISONS}[operator](left, right)


@bounded(400)
@given(_tests())
def test_the_engine_computes_what_is_written(node: e.Expression) -> None:
    listed = tuple(tuple(_literal(value) for value in row.values()) for row in ROWS)
    query = select(Item(node, "found"), source=Rows(listed, "t", tuple(ROWS[0])))
    assert duckdb.execute(write(query)).fetchall() == [(computed(node, row),) for row in ROWS]


@bounded(200)
@given(_tests())
def test_shown_expressions_parse_back(node: e.Expression) -> None:
    values = ", ".join(f"({', '.join(show.expression(_literal(v)) for v in row.values())})" for row in ROWS)
    text = f"SELECT {show.expression(node)} AS found FROM (VALUES {values}) AS t({', '.join(ROWS[0])})"
    with Session() as session:
        assert [found for (found,) in session.sql(text).fetchall()] == [computed(node, row) for row in ROWS]


def _literal(value: Value) -> e.Expression:
    return e.NULL if value is None else e.Boolean(value) if isinstance(value, bool) else number(value)


def test_every_expression_is_written_and_shown() -> None:
    kinds = {one for one in vars(e).values() if isinstance(one, type) and issubclass(one, e.Expression)}
    kinds -= {e.Expression, *PARTS_OF_OTHERS}
    assert len(kinds) > 20
    # Plans have no sets in parentheses: they are made where Spark's SQL is.
    assert kinds - REPLACED == set(trees._EXPRESSIONS) - {trees.GroupedBy}
    assert kinds == set(show._FORMS)
