"""What traces gather has the types that binding finds by asking the engine."""

from __future__ import annotations

import pytest

from dctv.bind.binder import Binder
from dctv.errors import DctvError, SourceText
from dctv.plan.expressions import Column, State
from dctv.plan.nodes import Plan, Relation, column_names
from dctv.plan.types_of import type_of
from dctv.plan.walk import walk
from dctv.rewrite.graph import readers_first
from dctv.run.plans import environment
from dctv.session import Session
from dctv.signatures.gathered import BESTS, ONES, SHAPES, SPREADS, TOGETHER
from dctv.syntax import ast
from dctv.syntax.parse import parse

ROWS = """SELECT range AS i, range::INT32 AS n, range / 4.0 AS x, (range / 4)::FLOAT32 AS f, range::STRING AS s,
  range::DECIMAL(10, 2) AS p, range % 2 = 0 AS b, DATE '2024-01-01' + range::INT32 AS d, range::INT128 AS h,
  [range] AS l, {'a': range, 'select': 's'} AS r, INTERVAL 1 day AS v FROM range(3)"""
COLUMNS = "inxfspbdhlrv"
ARGUMENTS = (
    *COLUMNS,
    *(f"{one}, {other}" for one in COLUMNS for other in "ixsd"),
    *("i, 0.25", "x, [0.5, 0.25]", "n, 0.5", "h, 0.0", "p, 0.5", "d, 0.5", "f, 1.0", "i + n", "NULL", "NULL, i"),
)
NAMES = (*SPREADS, *SHAPES, *TOGETHER, *ONES, *BESTS, "approx_quantile", "approx_count_distinct")


@pytest.fixture(scope="module")
def session() -> Session:
    made = Session(index=False)
    list(made.execute(f"CREATE TABLE t AS {ROWS}"))
    return made


def bound(session: Session, sql: str) -> Plan:
    (statement,) = parse(SourceText("<query>", sql))
    assert isinstance(statement, ast.SelectStatement)
    return Binder(environment(session._context)).plan(statement.select)


def found_in(plan: Plan) -> str | None:
    """Return the type of the one state in a plan, found without asking."""
    relations = [one for one in readers_first(plan) if isinstance(one, Relation)]
    ((state, relation),) = [(n, one) for one in relations for n in walk(one.query) if isinstance(n, State)]
    types = {
        name: column.type
        for _, leaf in relation.leaves
        for name, column in zip(column_names(leaf), leaf.schema.columns, strict=True)
    }
    assert {one.name for one in walk(state) if isinstance(one, Column)} <= types.keys()
    return type_of(state, types)


@pytest.mark.parametrize("name", NAMES)
def test_types_match_the_engine(session: Session, name: str) -> None:
    known = 0
    for arguments in ARGUMENTS:
        try:
            plan = bound(session, f"SELECT {name}({arguments}) EXPORT_STATE AS s FROM t")
        except DctvError:
            continue
        found = found_in(plan)
        if found is not None:
            known += 1
            assert found == plan.schema.columns[0].type, arguments
    assert known > 2
