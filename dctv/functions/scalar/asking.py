"""Unit rules of functions that test or describe a value independently of its unit."""

from __future__ import annotations

from dctv.contracts.function_rule import FunctionRule
from dctv.types.unit_rules import UnitRule

RULES = (
    FunctionRule("unitless", "scalar", UnitRule.NONE, "the number without its unit"),
    FunctionRule("sign", "scalar", UnitRule.NONE, "-1, 0 or 1"),
    FunctionRule("signbit", "scalar", UnitRule.NONE, "whether the sign bit is set"),
    FunctionRule("isnan", "scalar", UnitRule.NONE, "whether it is not a number"),
    FunctionRule("isinf", "scalar", UnitRule.NONE, "whether it is infinite"),
    FunctionRule("isfinite", "scalar", UnitRule.NONE, "whether it is finite"),
    FunctionRule("typeof", "scalar", UnitRule.NONE, "name of the type"),
    FunctionRule("pg_typeof", "scalar", UnitRule.NONE, "name of the type"),
    FunctionRule("format_bytes", "scalar", UnitRule.IN_BYTES, "size as a person reads it, with binary prefixes"),
    FunctionRule("formatreadablesize", "scalar", UnitRule.IN_BYTES, "size as a person reads it, with binary prefixes"),
    FunctionRule("pg_size_pretty", "scalar", UnitRule.IN_BYTES, "size as a person reads it, with binary prefixes"),
    FunctionRule(
        "formatreadabledecimalsize", "scalar", UnitRule.IN_BYTES, "size as a person reads it, with decimal prefixes"
    ),
)
