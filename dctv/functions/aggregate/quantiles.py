"""Unit rules of order statistics: each is one of the values or lies between two of them."""

from __future__ import annotations

from dctv.contracts.function_rule import FunctionRule
from dctv.types.unit_rules import UnitRule

RULES = (
    FunctionRule("min", "aggregate", UnitRule.KEEP, "smallest value"),
    FunctionRule("max", "aggregate", UnitRule.KEEP, "largest value"),
    FunctionRule("median", "aggregate", UnitRule.KEEP, "value in the middle"),
    FunctionRule("quantile", "aggregate", UnitRule.KEEP, "the value below which the given fraction of the values lies"),
    FunctionRule(
        "quantile_disc", "aggregate", UnitRule.KEEP, "the value below which the given fraction of the values lies"
    ),
    FunctionRule(
        "quantile_cont",
        "aggregate",
        UnitRule.KEEP,
        "interpolated value below which the given fraction of the values lies",
    ),
    FunctionRule(
        "approx_quantile",
        "aggregate",
        UnitRule.KEEP,
        "estimated value below which the given fraction of the values lies",
    ),
    FunctionRule(
        "reservoir_quantile",
        "aggregate",
        UnitRule.KEEP,
        "estimated value below which the given fraction of the values lies",
    ),
    FunctionRule("mode", "aggregate", UnitRule.KEEP, "most frequent value"),
    FunctionRule("approx_top_k", "aggregate", UnitRule.KEEP, "list of the values that are most frequent, estimated"),
    FunctionRule("mad", "aggregate", UnitRule.KEEP, "median absolute deviation from the median"),
)
