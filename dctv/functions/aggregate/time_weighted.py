"""Unit rules of the aggregates over the pieces of a span group, weighted by their duration."""

from __future__ import annotations

from dctv.contracts.function_rule import FunctionRule
from dctv.types.unit_rules import UnitRule

RULES = (
    FunctionRule("time_avg", "aggregate", UnitRule.KEEP, "mean over time: every piece counts as long as it lasts"),
    FunctionRule("time_sum", "aggregate", UnitRule.TIMES_NS, "integral over time: the sum of value times duration"),
)
