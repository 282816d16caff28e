"""Unit rules of functions that write numbers as text, in their current unit."""

from __future__ import annotations

from dctv.contracts.function_rule import FunctionRule
from dctv.types.unit_rules import UnitRule

RULES = (
    FunctionRule("format", "scalar", UnitRule.NONE, "text with values in its places, in the units at hand"),
    FunctionRule("printf", "scalar", UnitRule.NONE, "text with values in its places, in the units at hand"),
    FunctionRule("to_json", "scalar", UnitRule.NONE, "the value as JSON, in the unit at hand"),
    FunctionRule("json_quote", "scalar", UnitRule.NONE, "the value as JSON, in the unit at hand"),
    FunctionRule("array_to_json", "scalar", UnitRule.NONE, "the value as JSON, in the unit at hand"),
    FunctionRule("array_to_string", "scalar", UnitRule.NONE, "the elements joined to a text, in the unit at hand"),
    FunctionRule(
        "array_to_string_comma_default", "scalar", UnitRule.NONE, "the elements joined to a text, in the unit at hand"
    ),
    FunctionRule("list_string_agg", "scalar", UnitRule.NONE, "the elements joined to a text, in the unit at hand"),
    FunctionRule(
        "sparkline",
        "scalar",
        UnitRule.NONE,
        "text of blocks from ▁ to █, one for each number of a list, between the least and the greatest of them",
    ),
    FunctionRule("bar", "scalar", UnitRule.BINS, "bar of a length between two bounds; the last argument is its width"),
)
