"""Unit rules of arithmetic in the form of functions."""

from __future__ import annotations

from dctv.contracts.function_rule import FunctionRule
from dctv.types.unit_rules import UnitRule

RULES = (
    FunctionRule("add", "scalar", UnitRule.SAME, "sum"),
    FunctionRule("subtract", "scalar", UnitRule.SAME, "difference"),
    FunctionRule("multiply", "scalar", UnitRule.PRODUCT, "product"),
    FunctionRule("divide", "scalar", UnitRule.QUOTIENT, "whole quotient"),
    FunctionRule("fdiv", "scalar", UnitRule.QUOTIENT, "quotient, rounded down"),
    FunctionRule("mod", "scalar", UnitRule.SAME, "remainder with the sign of the dividend"),
    FunctionRule("fmod", "scalar", UnitRule.SAME, "remainder with the sign of the divisor"),
    FunctionRule("gcd", "scalar", UnitRule.SAME, "largest quantity that divides both"),
    FunctionRule("greatest_common_divisor", "scalar", UnitRule.SAME, "largest quantity that divides both"),
    FunctionRule("lcm", "scalar", UnitRule.SAME, "smallest quantity that both divide"),
    FunctionRule("least_common_multiple", "scalar", UnitRule.SAME, "smallest quantity that both divide"),
    FunctionRule("nextafter", "scalar", UnitRule.SAME, "next floating point number towards the second argument"),
    FunctionRule("sqrt", "scalar", UnitRule.ROOT, "square root"),
    FunctionRule("pow", "scalar", UnitRule.POWER, "power"),
    FunctionRule("power", "scalar", UnitRule.POWER, "power"),
    FunctionRule("cbrt", "scalar", UnitRule.CUBE_ROOT, "cube root"),
    FunctionRule("atan2", "scalar", UnitRule.COMPARE, "angle of the point (x, y), given y first, in radians"),
)
