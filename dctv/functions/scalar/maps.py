"""Unit rules of functions on maps: a map has the unit of its values."""

from __future__ import annotations

from dctv.contracts.function_rule import FunctionRule
from dctv.types.unit_rules import UnitRule

RULES = (
    FunctionRule("map_values", "scalar", UnitRule.KEEP, "list of the values"),
    FunctionRule("map_extract", "scalar", UnitRule.FIRST, "list of the value of a key, which may have any unit"),
    FunctionRule("map_extract_value", "scalar", UnitRule.FIRST, "the value of a key, which may have any unit"),
    FunctionRule("map_concat", "scalar", UnitRule.SAME, "map of the entries of all maps"),
    FunctionRule("map_contains_value", "scalar", UnitRule.COMPARE, "whether a value is in the map"),
    FunctionRule("map_keys", "scalar", UnitRule.NONE, "list of the keys"),
    FunctionRule("map_contains", "scalar", UnitRule.NONE, "whether a key is in the map"),
    FunctionRule("cardinality", "scalar", UnitRule.NONE, "number of entries"),
)
