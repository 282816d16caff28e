"""Check the expressions around the keys and aggregates of a grouping select: they see one group at a time."""

from __future__ import annotations

from dctv.contracts.engine import ZERO_DIVISION
from dctv.plan.expressions import (
    And,
    Between,
    Binary,
    Boolean,
    Call,
    Case,
    Cast,
    IsNull,
    Like,
    Null,
    Number,
    Or,
    Ordered,
    Text,
    Unary,
)
from dctv.plan.node import Node
from dctv.plan.queries import Item

_FORMS = (
    *(Item, Ordered, Cast, Unary, Binary, And, Or, IsNull, Like, Between, Case),
    *(Number, Text, Null, Boolean),
)
_CALLS = frozenset(
    {ZERO_DIVISION.lower(), "coalesce", "nullif", "greatest", "least", "concat", "concat_ws", "format", "printf"}
    | {"round", "trunc", "floor", "ceil", "abs", "sign", "sqrt", "ln", "log", "log2", "log10", "exp", "pow", "power"}
    | {"lower", "upper", "length", "replace", "substr", "substring", "left", "right", "trim", "ltrim", "rtrim", "lpad"}
    | {"rpad", "hex", "split_part", "contains", "starts_with", "ends_with", "prefix", "suffix", "regexp_matches"}
    | {"regexp_extract", "regexp_replace", "strftime", "date_trunc", "date_part", "make_timestamp", "epoch_ms"}
)
"""Functions that are no aggregates: those that reports put around keys and aggregates."""


def is_plain(call: Call) -> bool:
    """Whether a call is nothing but a function of its arguments."""
    return call == Call(call.function, call.arguments)


def is_of_group(node: Node) -> bool:
    """Whether an expression looks at one group at a time if its parts do."""
    if isinstance(node, Call):
        return is_plain(node) and node.function.lower() in _CALLS
    return isinstance(node, _FORMS)
