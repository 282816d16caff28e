"""Unit rules of aggregates with results that have no units: Booleans, bit sets, texts and maps of values."""

from __future__ import annotations

from dctv.contracts.function_rule import FunctionRule
from dctv.types.unit_rules import UnitRule

RULES = (
    FunctionRule("bool_and", "aggregate", UnitRule.BARE, "whether all values are true"),
    FunctionRule("bool_or", "aggregate", UnitRule.BARE, "whether a value is true"),
    FunctionRule("bit_and", "aggregate", UnitRule.BARE, "the values' bits combined"),
    FunctionRule("bit_or", "aggregate", UnitRule.BARE, "the values' bits combined"),
    FunctionRule("bit_xor", "aggregate", UnitRule.BARE, "the values' bits combined"),
    FunctionRule("bitstring_agg", "aggregate", UnitRule.BARE, "bit string with a one at each value"),
    FunctionRule("string_agg", "aggregate", UnitRule.BARE, "the texts joined by a separator"),
    FunctionRule("group_concat", "aggregate", UnitRule.BARE, "the texts joined by a separator"),
    FunctionRule("listagg", "aggregate", UnitRule.BARE, "the texts joined by a separator"),
    FunctionRule(
        "histogram", "aggregate", UnitRule.COMPARE, "map of values, or of upper bounds of bins, to how often they occur"
    ),
    FunctionRule("histogram_exact", "aggregate", UnitRule.COMPARE, "map of the given values to how often they occur"),
    FunctionRule("lttb", "aggregate", UnitRule.BARE, "list of the points that keep the shape of a line best"),
    FunctionRule("variant_group_object", "aggregate", UnitRule.BARE, "object of keys and values"),
    FunctionRule("json_group_array", "aggregate", UnitRule.BARE, "JSON of the values"),
    FunctionRule("json_group_object", "aggregate", UnitRule.BARE, "JSON of the values"),
    FunctionRule("json_group_structure", "aggregate", UnitRule.BARE, "JSON of the values"),
    FunctionRule("variant_group_array", "aggregate", UnitRule.BARE, "JSON of the values"),
)
