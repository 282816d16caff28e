"""As-of joins: check their conditions, and choose one of the rows that are equally near."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.bind.bound import Bound
from dctv.bind.context import Leaves
from dctv.bind.grouping import conjuncts
from dctv.bind.samples import ROW, has_order, numbered
from dctv.bind.scope import Scope
from dctv.errors import BindError
from dctv.plan import build as w
from dctv.plan import walk
from dctv.plan.expressions import NULL, And, Binary, Column, Expression, Row
from dctv.plan.nodes import Plan, physical_names
from dctv.plan.queries import Derived, FromItem, TableName
from dctv.types.schema import TS, Kind

_MIRRORED = {">=": "<=", ">": "<", "<=": ">=", "<": ">"}
_RANKS_AFTER = (">=", "<")
"""Operators by which a row of the left side ranks after those of the right side with an equal value."""


def check_asof(condition: Bound, own: Scope, right: Scope, kind: str) -> None:
    """Check the condition of an as-of join.

    One inequality says which row is the nearest; further conditions say which rows there are to choose from.

    Raises:
        BindError: it has no such inequality or several, or reads columns of a query around the join, which make the
            engine fail while it plans the query.
    """
    names = {column.table for c in own.columns() for column in walk.columns_in(c.value)}
    if any(column.table not in names for column in walk.columns_in(condition.value)):
        raise BindError(
            "ASOF JOIN cannot compare columns of the surrounding query",
            condition.place,
            hint="join that query's rows in the subquery, too, or move the ASOF JOIN out of it",
        )
    inequalities = sum(_direction(one.value, right) is not None for one in conjuncts(condition))
    if inequalities != 1:
        found = "none" if inequalities == 0 else str(inequalities)
        raise BindError(
            f"{kind} JOIN has one inequality between a value of its left and one of its right side, found {found}",
            condition.place,
            hint="such as a._ts >= b._ts for the latest b that is not later; = and conditions on one side may be added",
        )


def with_one_nearest(
    right: FromItem, conditions: Sequence[Expression], scope: Scope, leaves: Leaves
) -> tuple[FromItem, list[Expression]]:
    """Return the right side and the conditions of an as-of join, which choose among rows that are equally near.

    The engine would take any of them, another one in each run. It is the one that is next in the order of the right
    side: the last of the latest that are not later, the first of the earliest that are not earlier. Of rows in no order
    it is that of the greatest or the least values.
    """
    tests = [part for one in conditions for part in (one.parts if isinstance(one, And) else (one,))]
    (place,) = (index for index, test in enumerate(tests) if _direction(test, scope) is not None)
    others = (test for index, test in enumerate(tests) if index != place)
    if not all(_is_plain(test, scope) for test in others):
        # Beside other tests the engine compares every row with every other, and is eight times slower with ranks.
        return right, tests
    plan = next((one for name, one in leaves.all() if isinstance(right, TableName) and right.name == name), None)
    if plan is not None and _is_unique(plan, tests, tests[place], scope):
        return right, tests
    ranks = [column.value for column in scope.columns()]
    if plan is not None and has_order(plan):
        assert isinstance(right, TableName)
        ranks = [Column(ROW, right.called)]
        right = Derived(numbered(plan, right.name), right.called)
    tests[place] = _ranked(tests[place], scope, ranks)
    return right, tests


def _of_right(value: Expression, right: Scope) -> set[bool]:
    """Return whether the columns of a value are of the right side: of none, one or both answers."""
    names = {c.value.table for c in right.columns() if isinstance(c.value, Column)}
    return {column.table in names for column in walk.columns_in(value)}


def _is_plain(test: Expression, right: Scope) -> bool:
    """Whether a test is an equality of both sides, or chooses rows of the right one."""
    if isinstance(test, Binary) and test.operator == "=":
        sides = [_of_right(test.left, right), _of_right(test.right, right)]
        if sides in ([{False}, {True}], [{True}, {False}]):
            return True
    return _of_right(test, right) == {True}


def _direction(test: Expression, right: Scope) -> str | None:
    """Return how the left side compares with the right one; None unless the test is an inequality between both."""
    if not isinstance(test, Binary) or test.operator not in _MIRRORED:
        return None
    of_right = [_of_right(test.left, right), _of_right(test.right, right)]
    if of_right == [{False}, {True}]:
        return test.operator
    return _MIRRORED[test.operator] if of_right == [{True}, {False}] else None


def _is_unique(plan: Plan, tests: Sequence[Expression], inequality: Expression, scope: Scope) -> bool:
    """Whether no two rows are equally near: spans of a partition begin at different times."""
    if plan.schema.kind is not Kind.SPAN:
        return False
    equal = {
        side for test in tests if isinstance(test, Binary) and test.operator == "=" for side in (test.left, test.right)
    }
    own = [one.value for one in scope.columns()]
    named = dict(zip(physical_names(plan.schema), own, strict=True))
    sides = (inequality.left, inequality.right) if isinstance(inequality, Binary) else ()
    partitions = physical_names(plan.schema)[2 : plan.schema.special_count]
    return named[TS] in sides and all(named[name] in equal for name in partitions)


def _ranked(test: Expression, right: Scope, ranks: Sequence[Expression]) -> Expression:
    """Return an inequality that also compares ranks of the right side's rows; NULL compares with nothing."""
    operator = _direction(test, right)
    assert isinstance(test, Binary)
    assert operator is not None
    left, other = (test.left, test.right) if operator == test.operator else (test.right, test.left)
    # The second place decides between the sides where the first does not, so ranks only decide among rows of one side.
    rank = w.number(1 if operator in _RANKS_AFTER else -1)
    ours, theirs = Row((left, rank, *(NULL for _ in ranks))), Row((other, w.number(0), *ranks))
    return Binary(operator, w.case((w.is_not_null(left), ours)), w.case((w.is_not_null(other), theirs)))
