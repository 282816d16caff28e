"""Map types of columns to those that carry their values in Arrow: values without a type there become text."""

from __future__ import annotations

from functools import lru_cache

from dctv.signatures.types import STATE, Type, decimal, plain, with_children

WIDE = ("HUGEINT", "UHUGEINT")
"""Integers of 128 bits, of which Arrow has only decimals of 38 digits."""
LOST = ("TUPLE", "UNION", "VARIANT")
"""Types whose values a text does not give back."""
_TEXTS = ("BIT", "BIGNUM", "ENUM", "GEOMETRY", "TIME WITH TIME ZONE", "UNION", "VARIANT")
_VARCHAR = plain("VARCHAR")


@lru_cache(4096)
def carried(one: Type) -> Type:
    """Return the type in which a column's values go through Arrow; the same type if they can as they are."""
    if one.name == STATE:
        return carried(one.children[0])
    return _VARCHAR if one.name in WIDE else _within(one)


def is_restored(one: Type) -> bool:
    """Whether a cast of the values in Arrow restores those of a type."""
    return one.name not in LOST and all(map(is_restored, one.children))


def _within(one: Type) -> Type:
    if one.name in WIDE:
        return decimal(38, 0)
    if one.name in _TEXTS:
        return _VARCHAR
    children = tuple(map(_within, one.children))
    if children == one.children:
        return one
    return _VARCHAR if one.name == "TUPLE" else with_children(one, children)
