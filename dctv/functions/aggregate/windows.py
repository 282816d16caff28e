"""Unit rules of window functions: positions have no unit, values of other rows keep theirs."""

from __future__ import annotations

from dctv.contracts.function_rule import FunctionRule
from dctv.types.unit_rules import UnitRule

RULES = (
    FunctionRule("row_number", "window", UnitRule.NONE, "number of the row in its partition"),
    FunctionRule("rank", "window", UnitRule.NONE, "rank with gaps after ties"),
    FunctionRule("dense_rank", "window", UnitRule.NONE, "rank without gaps"),
    FunctionRule("rank_dense", "window", UnitRule.NONE, "rank without gaps"),
    FunctionRule("percent_rank", "window", UnitRule.NONE, "relative rank, from 0 to 1"),
    FunctionRule("cume_dist", "window", UnitRule.NONE, "fraction of the rows up to this one and its peers"),
    FunctionRule("ntile", "window", UnitRule.BARE, "number of the bucket, when the rows are dealt to n buckets"),
    FunctionRule("lag", "window", UnitRule.SHIFT, "value n rows before, or the default"),
    FunctionRule("lead", "window", UnitRule.SHIFT, "value n rows after, or the default"),
    FunctionRule("first_value", "window", UnitRule.KEEP, "value at the first row of the frame"),
    FunctionRule("last_value", "window", UnitRule.KEEP, "value at the last row of the frame"),
    FunctionRule("nth_value", "window", UnitRule.KEEP, "value at the n-th row of the frame"),
    FunctionRule("fill", "window", UnitRule.KEEP, "the value, or where it is NULL one interpolated along the order"),
)
