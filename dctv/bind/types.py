"""Types of bound expressions, from the table of signatures; None is a type that only the engine knows."""

from __future__ import annotations

from collections.abc import Iterable

from dctv.signatures import casts
from dctv.signatures.combine import common
from dctv.signatures.functions import operator_type, result_type
from dctv.signatures.results import reads_text
from dctv.signatures.types import STATE, Type, decimal, integer_literal, member, parse, plain
from dctv.types.values import is_numeric

BIGINT, BOOLEAN, DOUBLE, HUGEINT, VARCHAR = map(plain, ("BIGINT", "BOOLEAN", "DOUBLE", "HUGEINT", "VARCHAR"))
INTERVAL, JSON = map(plain, ("INTERVAL", "JSON"))
NULL = plain('"NULL"')
DOUBLE_LITERAL, STRING_LITERAL = plain("DOUBLE_LITERAL"), plain("STRING_LITERAL")
_LARGEST = 2**127
_DECIMAL = (18, 3)
"""Digits and places of a decimal number, if none are written."""
_ALIKE = (("LIST", "LIST"), ("LIST", "ARRAY"), ("MAP", "MAP"))
"""Nested types that are cast if what is within them is."""
_MAYBE_NUMBERS = ("BIGNUM", "UNION", "VARIANT", STATE)
_TIMES = frozenset(("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"))


def of_integer(value: int) -> Type | None:
    """Return the type of an integer literal."""
    return integer_literal(value) if -_LARGEST < value < _LARGEST else None


def of_operator(op: str, *operands: Type | None) -> Type | None:
    """Return the type of an operator's result."""
    types = _known(operands)
    return None if types is None else operator_type(op, types)


def of_search(value: Type | None, rows: Type | None) -> Type | None:
    """Return the type of IN with a subquery, which casts to a common type only for numbers."""
    types = _known([value, rows])
    if types is None:
        return None
    alike = types[0] == types[1] or all(is_numeric(casts.settled(one).name) for one in types)
    return BOOLEAN if alike else None


def of_call(name: str, arguments: Iterable[Type | None], *, proven: bool = False) -> Type | None:
    """Return the type of a function's result; `proven` texts are ones that the engine is known to understand."""
    types = _known(arguments)
    if types is None or (reads_text(name, types) and not proven):
        return None
    return result_type(name, types)


def of_choice(values: Iterable[Type | None]) -> Type | None:
    """Return the common type to which the engine casts values when it chooses one of them."""
    types = _known(values)
    return None if types is None else common(types)


def of_cast(source: Type | None, to: str) -> Type | None:
    """Return the type of a cast, as the engine writes it."""
    target = decimal(*_DECIMAL) if to == "DECIMAL" else parse(to)
    return target if source is not None and _casts(source, target) else None


def of_member(struct: Type | None, name: str) -> Type | None:
    """Return the type of a struct's or union's member."""
    return None if struct is None else member(struct, name)


def settled(found: Type | None) -> Type | None:
    """Return the type of a column whose value is of a type: those of literals become plain ones."""
    return None if found is None else casts.settled(found)


def counts(found: Type) -> bool:
    """Whether values of a type are numbers, lists or maps of them, or may be: the value of a union, a NULL."""
    if found.name in ("LIST", "ARRAY", "MAP"):
        return counts(found.children[-1])
    name = casts.settled(found).name
    return is_numeric(name) or found == NULL or name in _MAYBE_NUMBERS


def _known(types: Iterable[Type | None]) -> list[Type] | None:
    all_types = list(types)
    known_types = [one for one in all_types if one is not None]
    return known_types if len(known_types) == len(all_types) else None


def _casts(source: Type, target: Type) -> bool:
    """Whether the engine is known to have a cast."""
    if (
        source in (target, NULL, STRING_LITERAL, VARCHAR)
        or target == VARCHAR
        or "VARIANT" in (source.name, target.name)
    ):
        return True
    if source.name == STATE:
        return source.children[:1] == (target,)
    if (source.name, target.name) in _ALIKE:
        return all(map(_casts, source.children, target.children))
    if target.name == "MAP" and source.name == "STRUCT":
        key, value = target.children
        return _casts(VARCHAR, key) and all(_casts(one, value) for one in source.children)
    if target.name == "STRUCT" and source.name in ("STRUCT", "TUPLE"):
        # By name, or by place if there are none; what only one of them has is left to the engine.
        fit = source.name == "TUPLE" or [one.lower() for one in source.names] == [one.lower() for one in target.names]
        alike = len(source.children) == len(target.children)
        return fit and alike and all(map(_casts, source.children, target.children))
    names = [BIGINT.name if one.name in ("INTEGER_LITERAL", "BOOLEAN") else one.name for one in (source, target)]
    return all(map(is_numeric, names)) or set(names) <= _TIMES
