"""Infer types of the plan's expressions from the table of signatures and the types of columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from dctv.plan.expressions import (
    And,
    Between,
    Binary,
    Boolean,
    Call,
    Case,
    Cast,
    Column,
    Exists,
    Expression,
    InList,
    InQuery,
    IsNull,
    Like,
    List,
    Null,
    Number,
    OfTrace,
    Or,
    Star,
    StartOf,
    State,
    Text,
    Unary,
)
from dctv.plan.states import constants_of
from dctv.signatures.casts import settled
from dctv.signatures.combine import common
from dctv.signatures.functions import operator_type, result_type
from dctv.signatures.gathered import OF_DOUBLES, argument_types, gathered, sets
from dctv.signatures.results import reads_text
from dctv.signatures.states import StateSettings, state_type
from dctv.signatures.types import Type, integer_literal, list_of, parse, plain

_TRUTHS = (And, Or, IsNull, Like, Between, InList, InQuery, Exists)
_PATH_READERS = """
json_array_length json_exists json_extract json_extract_path json_extract_path_text json_extract_string json_keys
json_type json_value
"""
_OF_PATHS = frozenset(_PATH_READERS.split())
"""Functions that return a list where a path has a wildcard."""
_OF_ONE_TYPE = frozenset(("date_trunc", "datetrunc", "regexp_full_match", "regexp_matches", "regexp_replace"))
"""Other functions of which the engine reads a text when it binds the call, but whose type does not depend on it."""
_MOST_DIGITS = 38
Made = TypeVar("Made")
_SHARE = plain("DOUBLE_LITERAL")


def type_of(node: Expression, columns: Mapping[str, str]) -> str | None:
    """Return the type of a value as the engine names it, None if only the engine knows.

    `columns` has the types of columns by name, regardless of their table.
    """
    found = _type(node, columns)
    return None if found is None else settled(found).text


def _type(node: Expression, columns: Mapping[str, str]) -> Type | None:
    match node:
        case Column(name):
            return parse(columns[name]) if columns.get(name) else None
        case Cast(_, to) | OfTrace(_, to):
            return parse(to)
        case StartOf():
            return plain("BIGINT")
        case Null() | Number() | Text() | Boolean():
            return _literal(node)
        case _ if isinstance(node, _TRUTHS):
            return plain("BOOLEAN")
        case _:
            return _computed(node, columns)


def _literal(node: Null | Number | Text | Boolean) -> Type | None:
    match node:
        case Null():
            return plain('"NULL"')
        case Text():
            return plain("STRING_LITERAL")
        case Boolean():
            return plain("BOOLEAN")
        case Number(text):
            return integer_literal(int(text)) if text.isdigit() and len(text) < _MOST_DIGITS else None


def _computed(node: Expression, columns: Mapping[str, str]) -> Type | None:
    match node:
        case Unary(operator, operand):
            return _of([operand], columns, lambda types: operator_type(operator, types))
        case Binary(operator, left, right):
            return _of([left, right], columns, lambda types: operator_type(operator, types))
        case Case(branches, default, _):
            values = [default or Null(), *(value for _, value in branches)]
            return _of(values, columns, common)
        case Call():
            return _called(node, columns)
        case State(call):
            return _state(call, columns)
        case _:
            return None


def _called(call: Call, columns: Mapping[str, str]) -> Type | None:
    function, arguments = call.function, call.arguments
    if function in _OF_ONE_TYPE or (function in _OF_PATHS and not any("*" in one for one in _texts(arguments))):
        types = [plain("VARCHAR") if isinstance(one, Text) else _type(one, columns) for one in arguments]
        return _known(types, lambda types: result_type(function, types))
    given = () if arguments == (Star(),) else arguments
    return _of(given, columns, lambda types: None if reads_text(function, types) else result_type(function, types))


def _texts(values: Sequence[Expression]) -> Sequence[str]:
    return [one.value for one in values if isinstance(one, Text)]


def _state(call: Call, columns: Mapping[str, str]) -> Type | None:
    """Return the type of an aggregate's state; None if it sorts rows, or if only the engine knows."""
    types = _taken(call, columns)
    made = None if types is None or call.order_by else gathered(call.function, types)
    if types is None or made is None:
        return None
    return state_type(call.function, made, types, StateSettings(constants_of(call.function, call.arguments)))


def _taken(call: Call, columns: Mapping[str, str]) -> Sequence[Type] | None:
    """Return the types in which an aggregate takes its arguments."""
    if call.function in OF_DOUBLES:
        return [plain("DOUBLE")] * len(call.arguments)
    given = [
        _setting(one) if sets(call.function, place) else _type(one, columns) for place, one in enumerate(call.arguments)
    ]
    return _known(given, lambda types: argument_types(call.function, types))


def _setting(value: Expression) -> Type | None:
    """Return the type of shares such as 0.5, or of a list of some; None for others."""
    if isinstance(value, List):
        return list_of(_SHARE) if value.items and all(isinstance(one, Number) for one in value.items) else None
    return _SHARE if isinstance(value, Number) else None


def _of(
    values: Sequence[Expression], columns: Mapping[str, str], make: Callable[[list[Type]], Type | None]
) -> Type | None:
    return _known([_type(one, columns) for one in values], make)


def _known(types: Sequence[Type | None], make: Callable[[list[Type]], Made | None]) -> Made | None:
    known_types = [one for one in types if one is not None]
    return make(known_types) if len(known_types) == len(types) else None
