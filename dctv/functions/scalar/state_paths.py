"""Unit rules of paths of attributes."""

from __future__ import annotations

from dctv.contracts.function_rule import FunctionRule
from dctv.types.unit_rules import UnitRule

RULES = (
    FunctionRule(
        "state_path",
        "scalar",
        UnitRule.BARE,
        "path of an attribute from its names, as text: `/` between them, and a backslash before those of a name",
    ),
    FunctionRule("state_names", "scalar", UnitRule.BARE, "list of the names of an attribute's path that is a text"),
)
