"""Unit rules of functions that construct dates, times and intervals from numbers: quantities of time are converted."""

from __future__ import annotations

from dctv.contracts.function_rule import FunctionRule
from dctv.types.unit_rules import UnitRule

RULES = (
    FunctionRule("to_timestamp", "scalar", UnitRule.IN_SECONDS, "time of the wall clock, of seconds since 1970"),
    FunctionRule("to_seconds", "scalar", UnitRule.IN_SECONDS, "interval of seconds"),
    FunctionRule("to_milliseconds", "scalar", UnitRule.IN_MILLISECONDS, "interval of milliseconds"),
    FunctionRule(
        "make_timestamp_ns", "scalar", UnitRule.IN_NANOSECONDS, "time of the wall clock, of nanoseconds since 1970"
    ),
)
