"""Unit rules of functions that return one of their arguments."""

from __future__ import annotations

from dctv.contracts.function_rule import FunctionRule
from dctv.types.unit_rules import UnitRule

RULES = (
    FunctionRule("try", "scalar", UnitRule.SAME, "its argument, or NULL where that fails"),
    FunctionRule("coalesce", "scalar", UnitRule.SAME, "first argument that is not NULL"),
    FunctionRule("ifnull", "scalar", UnitRule.SAME, "first argument, or the second where that is NULL"),
    FunctionRule("nullif", "scalar", UnitRule.SAME, "first argument, or NULL where it equals the second"),
    FunctionRule("greatest", "scalar", UnitRule.SAME, "largest argument"),
    FunctionRule("least", "scalar", UnitRule.SAME, "smallest argument"),
    FunctionRule("if", "scalar", UnitRule.CHOOSE, "second argument where the condition holds, else the third"),
    FunctionRule("constant_or_null", "scalar", UnitRule.FIRST, "first argument, or NULL where another is NULL"),
)
