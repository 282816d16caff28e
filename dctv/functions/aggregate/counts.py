"""Unit rules of aggregates that count: a count has no unit."""

from __future__ import annotations

from dctv.contracts.function_rule import FunctionRule
from dctv.types.unit_rules import UnitRule

RULES = (
    FunctionRule("grouping", "aggregate", UnitRule.NONE, "which of the columns are not keys of the group, as bits"),
    FunctionRule("grouping_id", "aggregate", UnitRule.NONE, "which of the columns are not keys of the group, as bits"),
    FunctionRule("count", "aggregate", UnitRule.NONE, "number of rows, or of values that are not NULL"),
    FunctionRule("count_star", "aggregate", UnitRule.NONE, "number of rows"),
    FunctionRule("count_if", "aggregate", UnitRule.NONE, "number of rows where the condition holds"),
    FunctionRule("countif", "aggregate", UnitRule.NONE, "number of rows where the condition holds"),
    FunctionRule("approx_count_distinct", "aggregate", UnitRule.NONE, "estimated number of different values"),
)
