"""Unit rules of functions that round: in the current unit, so 1.6ms rounds to 2ms."""

from __future__ import annotations

from dctv.contracts.function_rule import FunctionRule
from dctv.types.unit_rules import UnitRule

RULES = (
    FunctionRule("abs", "scalar", UnitRule.KEEP, "distance from 0"),
    FunctionRule("ceil", "scalar", UnitRule.KEEP, "next whole number up"),
    FunctionRule("ceiling", "scalar", UnitRule.KEEP, "next whole number up"),
    FunctionRule("floor", "scalar", UnitRule.KEEP, "next whole number down"),
    FunctionRule("trunc", "scalar", UnitRule.KEEP, "whole number towards 0"),
    FunctionRule("round", "scalar", UnitRule.KEEP, "nearest number with n digits, halves away from 0"),
    FunctionRule("round_even", "scalar", UnitRule.KEEP, "nearest number with n digits, halves to the even one"),
    FunctionRule("roundbankers", "scalar", UnitRule.KEEP, "nearest number with n digits, halves to the even one"),
    FunctionRule("even", "scalar", UnitRule.KEEP, "next even number away from 0"),
)
