"""Unit rules of functions of aggregate states: a state has the unit of the aggregate's value."""

from __future__ import annotations

from dctv.contracts.function_rule import FunctionRule
from dctv.types.unit_rules import UnitRule

RULES = (
    FunctionRule("finalize", "scalar", UnitRule.KEEP, "the value of an aggregate, of its state: sum(x) EXPORT_STATE"),
    FunctionRule("combine", "scalar", UnitRule.FIRST, "the state of the rows of two states"),
    FunctionRule(
        "combine_aggr", "aggregate", UnitRule.KEEP, "the state of the rows of all states, each counted n times"
    ),
)
