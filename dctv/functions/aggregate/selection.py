"""Unit rules of aggregates that return values unchanged, one or all of them."""

from __future__ import annotations

from dctv.contracts.function_rule import FunctionRule
from dctv.types.unit_rules import UnitRule

RULES = (
    FunctionRule("any_value", "aggregate", UnitRule.KEEP, "a value, the first one"),
    FunctionRule("arbitrary", "aggregate", UnitRule.KEEP, "a value, the first one"),
    FunctionRule("first", "aggregate", UnitRule.KEEP, "a value, the first one"),
    FunctionRule("last", "aggregate", UnitRule.KEEP, "the last value"),
    FunctionRule("arg_max", "aggregate", UnitRule.FIRST, "the first argument where the second is largest"),
    FunctionRule("argmax", "aggregate", UnitRule.FIRST, "the first argument where the second is largest"),
    FunctionRule("max_by", "aggregate", UnitRule.FIRST, "the first argument where the second is largest"),
    FunctionRule("arg_max_null", "aggregate", UnitRule.FIRST, "the first argument where the second is largest"),
    FunctionRule("arg_max_nulls_last", "aggregate", UnitRule.FIRST, "the first argument where the second is largest"),
    FunctionRule("arg_min", "aggregate", UnitRule.FIRST, "the first argument where the second is smallest"),
    FunctionRule("argmin", "aggregate", UnitRule.FIRST, "the first argument where the second is smallest"),
    FunctionRule("min_by", "aggregate", UnitRule.FIRST, "the first argument where the second is smallest"),
    FunctionRule("arg_min_null", "aggregate", UnitRule.FIRST, "the first argument where the second is smallest"),
    FunctionRule("arg_min_nulls_last", "aggregate", UnitRule.FIRST, "the first argument where the second is smallest"),
    FunctionRule("list", "aggregate", UnitRule.KEEP, "list of the values"),
    FunctionRule("array_agg", "aggregate", UnitRule.KEEP, "list of the values"),
)
