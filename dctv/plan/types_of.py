"""Expressions of the plan -> their types, from the table of signatures and the types of columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

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
    Null,
    Number,
    Or,
    Star,
    Text,
    Unary,
)
from dctv.signatures.casts import settled
from dctv.signatures.combine import common
from dctv.signatures.functions import operator_type, result_type
from dctv.signatures.results import reads_text
from dctv.signatures.types import Type, integer_literal, parse, plain

_TRUTHS = (And, Or, IsNull, Like, Between, InList, InQuery, Exists)
_MOST_DIGITS = 38


def type_of(node: Expression, columns: Mapping[str, str]) -> str | None:
    """Return the type of a value as the engine names it, None if only the engine knows.

    `columns` has the types of columns by name, whatever the table.
    """
    found = _type(node, columns)
    return None if found is None else settled(found).text


def _type(node: Expression, columns: Mapping[str, str]) -> Type | None:
    match node:
        case Column(name):
            return parse(columns[name]) if columns.get(name) else None
        case Cast(_, to):
            return parse(to)
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
        case Call(function, arguments):
            given = () if arguments == (Star(),) else arguments
            return _of(
                given, columns, lambda types: None if reads_text(function, types) else result_type(function, types)
            )
        case _:
            return None


def _of(
    values: Sequence[Expression], columns: Mapping[str, str], make: Callable[[list[Type]], Type | None]
) -> Type | None:
    types = [_type(one, columns) for one in values]
    known = [one for one in types if one is not None]
    return make(known) if len(known) == len(types) else None
