"""Compute the engine's common type of operands of several types.

The rules are those of the engine's sources: combine_types_rules.cpp, and `MaxLogicalType` in types.cpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from dctv.signatures.casts import INTEGERS, NULL, STRUCTS, as_decimal, cast_cost, settled
from dctv.signatures.types import Type, array_of, decimal, list_of, map_of, plain, struct_of, tuple_of, unquoted

WIDEST = 38
"""Digits of the widest DECIMAL."""
_NUMBERS = frozenset((*INTEGERS, "FLOAT", "DOUBLE", "DECIMAL"))
_RANKS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_STRONG = ("JSON", "VARIANT")
"""Types that all others are brought to."""
_PAIR = 2
_TEXT = plain("VARCHAR")


def common(types: Sequence[Type]) -> Type | None:
    """Return the common type of operands of CASE, COALESCE, UNION and VALUES; None if there is none, or it is unknown.

    Types are combined one after the other, which matters where some are literals: CASE begins with the type
    after ELSE (`"NULL"` if there is none), followed by the results in their order. UNION looks at columns, so literals
    count there as their `settled` types.
    """
    if not types:
        return None
    found: Type | None = types[0]
    for one in types[1:]:
        found = combined(found, one) if found is not None else None
    return None if found is None else settled(found)


def comparable(operands: Sequence[Type], *, equality: bool) -> bool:
    """Return whether the engine compares values of some types; for equality it casts incompatible ones."""
    if len(operands) > _PAIR and any(one.name == "JSON" for one in operands):
        return all(one.name == "JSON" for one in operands)  # beside numbers it is read as one of them
    return common(operands) is not None or (equality and not any(one.children for one in operands))


@lru_cache(16384)
def combined(left: Type, right: Type) -> Type | None:
    """Return the common type of two, which may be that of a literal; None if there is none, or it is unknown."""
    if left == right:
        return settled(left)
    if "DOUBLE_LITERAL" in (left.name, right.name):
        return combined(*(settled(one) if one.name == "DOUBLE_LITERAL" else one for one in (left, right)))
    for name in _STRONG:
        if name in (left.name, right.name):
            return left if left.name == name else right
    for weak in (NULL.name, "STRING_LITERAL"):
        if weak in (left.name, right.name) and not ("ENUM" in (left.name, right.name) and weak != NULL.name):
            return settled(right if left.name == weak else left)
    if "ENUM" in (left.name, right.name):
        return combined(*(_TEXT if one.name == "ENUM" else one for one in (left, right)))
    return _alike(left, right) if _kind(left) == _kind(right) else _different(left, right)


def _kind(one: Type) -> str:
    return "STRUCT" if one.name in STRUCTS else one.name


def _alike(left: Type, right: Type) -> Type | None:
    match left.name:
        case "INTEGER_LITERAL":
            return combined(settled(left), settled(right))
        case "DECIMAL":
            return _decimals(left, right)
        case "LIST" | "ARRAY" | "MAP":
            return _containers(left, right)
        case "STRUCT" | "TUPLE":
            return _structs(left, right)
        case _:
            return None


def _decimals(left: Type, right: Type) -> Type:
    whole = max(one.numbers[0] - one.numbers[1] for one in (left, right))
    scale = max(one.numbers[1] for one in (left, right))
    return decimal(whole + scale, scale) if whole + scale <= WIDEST else decimal(WIDEST, WIDEST - whole)


def _containers(left: Type, right: Type) -> Type | None:
    children = [combined(*pair) for pair in zip(left.children, right.children, strict=True)]
    found = [child for child in children if child is not None]
    if len(found) < len(children):
        return None
    if left.name == "LIST":
        return list_of(found[0])
    return map_of(*found) if left.name == "MAP" else array_of(found[0], max(left.numbers[0], right.numbers[0]))


def _different(left: Type, right: Type) -> Type | None:
    there, back = cast_cost(left, right), cast_cost(right, left)
    if there is not None and (back is None or there < back):
        return _grown(right, left)
    if back is not None:
        return _grown(left, right)
    if "INTEGER_LITERAL" in (left.name, right.name):
        return combined(settled(left), settled(right))
    if left.name in _NUMBERS and right.name in _NUMBERS:
        return _signed(left, right)
    integer = right if left.name == "BOOLEAN" else left
    return integer if "BOOLEAN" in (left.name, right.name) and integer.name in INTEGERS else None


def _grown(target: Type, other: Type) -> Type | None:
    """Return a target, a DECIMAL so wide that it holds the other's values."""
    if target.name != "DECIMAL":
        return target
    width, scale = target.numbers
    as_decimals = as_decimal(other)
    if as_decimals is None:
        return None
    return (
        decimal(min(as_decimals.numbers[0] + scale, WIDEST), scale)
        if as_decimals.numbers[0] > width - scale
        else target
    )


def _signed(left: Type, right: Type) -> Type | None:
    """Return the engine's common type of a signed and an unsigned integer type.

    It is the next one that is wider than both, but the widest without a sign does not count.
    """
    widest = max(_RANKS.index(one.name.removeprefix("U")) for one in (left, right) if one.name != "UHUGEINT")
    return plain(_RANKS[widest + 1]) if widest + 1 < len(_RANKS) else plain("DOUBLE")


def _structs(left: Type, right: Type) -> Type | None:
    if left.names and right.names:
        return _named_structs(left, right)
    if len(left.children) != len(right.children):
        return None
    children = [combined(*pair) for pair in zip(left.children, right.children, strict=True)]
    found = tuple(child for child in children if child is not None)
    if len(found) < len(children):
        return None
    named = left if left.names else right
    return struct_of(named.names, found) if named.names else tuple_of(found)


def _named_structs(left: Type, right: Type) -> Type | None:
    """Return a struct with the members of both; names are equal regardless of case."""
    more = {unquoted(name).lower(): (name, child) for name, child in zip(right.names, right.children, strict=True)}
    found: list[tuple[str, Type]] = []
    for name, child in zip(left.names, left.children, strict=True):
        _, other = more.pop(unquoted(name).lower(), ("", child))
        both = child if other is child else combined(child, other)
        if both is None:
            return None
        found.append((name, both))
    found.extend(more.values())
    return struct_of(tuple(name for name, _ in found), tuple(child for _, child in found))
