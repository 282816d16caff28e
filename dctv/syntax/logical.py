"""Conjunctions and disjunctions of tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from dctv.errors import Place
from dctv.record import record
from dctv.syntax.node import Expr

LogicalOp = Literal["AND", "OR"]


@record(eq=False, text=False)
class Logical(Expr):
    """`test AND test AND ...`, or with OR: two tests or more, none of them a Logical of the same operator.

    A chain is one node however long it is, so that trees of generated queries are not deep.
    """

    op: LogicalOp
    operands: tuple[Expr, ...]


def logical(op: LogicalOp, tests: Iterable[Expr], place: Place | None) -> Expr:
    """Say that all tests hold, or that one does; one test alone is returned as it is."""
    operands = [
        operand
        for test in tests
        for operand in (test.operands if isinstance(test, Logical) and test.op == op else (test,))
    ]
    return operands[0] if len(operands) == 1 else Logical(op, tuple(operands), place=place)
