"""Unit rules of sums and means: they scale as their values do; a mean's weights cancel."""

from __future__ import annotations

from dctv.contracts.function_rule import FunctionRule
from dctv.types.unit_rules import UnitRule

RULES = (
    FunctionRule("sum", "aggregate", UnitRule.KEEP, "sum of the values"),
    FunctionRule("fsum", "aggregate", UnitRule.KEEP, "sum of the values"),
    FunctionRule("kahan_sum", "aggregate", UnitRule.KEEP, "sum of the values"),
    FunctionRule("sumkahan", "aggregate", UnitRule.KEEP, "sum of the values"),
    FunctionRule("sum_no_overflow", "aggregate", UnitRule.KEEP, "sum of the values"),
    FunctionRule("avg", "aggregate", UnitRule.KEEP, "arithmetic mean"),
    FunctionRule("mean", "aggregate", UnitRule.KEEP, "arithmetic mean"),
    FunctionRule("favg", "aggregate", UnitRule.KEEP, "arithmetic mean"),
    FunctionRule("decimal_average", "aggregate", UnitRule.KEEP, "arithmetic mean"),
    FunctionRule("geomean", "aggregate", UnitRule.KEEP, "geometric mean"),
    FunctionRule("geometric_mean", "aggregate", UnitRule.KEEP, "geometric mean"),
    FunctionRule("wavg", "aggregate", UnitRule.FIRST, "mean of the values (first argument), weighted by the second"),
    FunctionRule(
        "weighted_avg", "aggregate", UnitRule.FIRST, "mean of the values (first argument), weighted by the second"
    ),
    FunctionRule(
        "product", "aggregate", UnitRule.BARE, "product of the values; a unit's power would be the number of rows"
    ),
)
