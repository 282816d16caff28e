"""The engine's implicit casts between types.

The rules are those of the engine's sources: cast_rules.cpp, and the casts that its JSON extension registers.
"""

from __future__ import annotations

from functools import lru_cache

from dctv.signatures.types import Type, decimal, parse, plain, unquoted

_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
INTEGERS = {
    **{name: (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) for name, bits in _BITS.items()},
    **{f"U{name}": (0, (1 << bits) - 1) for name, bits in _BITS.items()},
}
"""Least and greatest value of the integers' types."""
_LITERALS = ("INTEGER", "BIGINT", "HUGEINT", "UHUGEINT")
"""Default types of an integer literal: the first that holds it."""

WIDTHS = {
    "TINYINT": 3,
    "SMALLINT": 5,
    "INTEGER": 10,
    "BIGINT": 19,
    "HUGEINT": 38,
    "UTINYINT": 3,
    "USMALLINT": 5,
    "UINTEGER": 10,
    "UBIGINT": 20,
    "UHUGEINT": 38,
}
"""Digits of the DECIMAL that is equivalent to an integer type."""

TEMPLATES = frozenset("TKV")
"""Type parameters: any type, but the same for each occurrence of the letter."""
STRUCTS = ("STRUCT", "TUPLE")
LISTS = ("LIST", "ARRAY")
NULL = plain('"NULL"')

_COSTS = {
    "BIGINT": 101,
    "INTEGER": 102,
    "HUGEINT": 103,
    "DOUBLE": 104,
    "DECIMAL": 105,
    "BIGNUM": 106,
    "TIMESTAMP_NS": 119,
    "TIMESTAMP": 120,
    "TIMESTAMP_MS": 121,
    "TIMESTAMP_S": 122,
    "TIMESTAMP WITH TIME ZONE": 123,
    "TIMESTAMPTZ_NS": 124,
    "VARCHAR": 149,
    **dict.fromkeys(("STRUCT", "TUPLE", "MAP", "LIST", "UNION", "ARRAY"), 160),
    "ANY": 5,
    **dict.fromkeys(TEMPLATES, 1_000_000),
}
_OTHER = 110
"""Costs of casts by target; the engine takes the cheapest overload."""

_FRACTIONS = ("FLOAT", "DOUBLE", "DECIMAL", "BIGNUM")
_TARGETS: dict[str, tuple[str, ...]] = {
    "TINYINT": ("SMALLINT", "INTEGER", "BIGINT", "HUGEINT", *_FRACTIONS),
    "SMALLINT": ("INTEGER", "BIGINT", "HUGEINT", *_FRACTIONS),
    "INTEGER": ("BIGINT", "HUGEINT", *_FRACTIONS),
    "BIGINT": ("HUGEINT", *_FRACTIONS),
    "HUGEINT": _FRACTIONS,
    "UTINYINT": (
        "USMALLINT",
        "UINTEGER",
        "UBIGINT",
        "UHUGEINT",
        "SMALLINT",
        "INTEGER",
        "BIGINT",
        "HUGEINT",
        *_FRACTIONS,
    ),
    "USMALLINT": ("UINTEGER", "UBIGINT", "UHUGEINT", "INTEGER", "BIGINT", "HUGEINT", *_FRACTIONS),
    "UINTEGER": ("UBIGINT", "UHUGEINT", "BIGINT", "HUGEINT", *_FRACTIONS),
    "UBIGINT": ("UHUGEINT", "HUGEINT", *_FRACTIONS),
    "UHUGEINT": _FRACTIONS,
    "FLOAT": ("DOUBLE", "BIGNUM"),
    "DOUBLE": ("BIGNUM",),
    "DECIMAL": ("FLOAT", "DOUBLE"),
    "BIGNUM": ("DOUBLE",),
    "DATE": (
        "TIMESTAMP",
        "TIMESTAMP WITH TIME ZONE",
        "TIMESTAMPTZ_NS",
        "TIMESTAMP_MS",
        "TIMESTAMP_NS",
        "TIMESTAMP_S",
    ),
    "ENUM": ("VARCHAR",),
    "TIMESTAMP_S": ("TIMESTAMP", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"),
    "TIMESTAMP_MS": ("TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"),
    "TIMESTAMP_NS": ("TIMESTAMP",),
    "TIMESTAMP": ("TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"),
}
"""Targets of casts from plain types; VARIANT is cast to all."""

_TO_JSON = {'"NULL"': 150, "VARCHAR": 161, "ENUM": 148, "VARIANT": 148, "STRING_LITERAL": 20}
"""Costs of casts to JSON that are not free."""


def cast_cost(source: Type, target: Type) -> int | None:
    """Return the engine's cost of an implicit cast; None if there is none."""
    return cost_of(source.text, target.text)


@lru_cache(65536)
def cost_of(source_text: str, target_text: str) -> int | None:
    """Return the cost of a cast by the texts of types, for frequent callers, since texts are hashed faster."""
    source, target = parse(source_text), parse(target_text)
    if source.name == "DOUBLE_LITERAL":
        source = settled(source)
    if source == NULL or target.name == "ANY" or target.name in TEMPLATES:
        return _cost_of_any(source, target)
    if source.name == "STRING_LITERAL":
        return _of_text(target)
    if source.name == "INTEGER_LITERAL":
        return _of_integer(source, target)
    if "JSON" in (source.name, target.name):
        return _of_json(source, target)
    return _of_nested(source, target) if source.children or target.children else _of_plain(source, target)


def fits(literal: Type, target: Type) -> bool:
    """Return whether a type holds the value of an integer literal."""
    least, greatest = INTEGERS[target.name]
    return least <= literal.numbers[0] <= greatest


@lru_cache(4096)
def settled(one: Type) -> Type:
    """Return the type of a column of a type: that of a literal is one that other values have too."""
    if one.name == "STRING_LITERAL":
        return plain("VARCHAR")
    if one.name == "DOUBLE_LITERAL":
        return plain("DOUBLE")
    if one.name == "INTEGER_LITERAL":
        return plain(next(name for name in _LITERALS if fits(one, plain(name))))
    return one


def as_decimal(one: Type) -> Type | None:
    """Return the DECIMAL that holds a number's type; None: none does."""
    one = settled(one)
    if one.name == "DECIMAL":
        return one
    return decimal(WIDTHS[one.name], 0) if one.name in WIDTHS else None


def _target_cost(target: Type) -> int:
    return _COSTS.get(target.name, _OTHER)


def _cost_of_any(source: Type, target: Type) -> int:
    if source == NULL and target.name in TEMPLATES:
        return _COSTS["ANY"]
    return _TO_JSON[NULL.name] if source == NULL and target.name == "JSON" else _target_cost(target)


def _of_plain(source: Type, target: Type) -> int | None:
    if source.name == target.name or (source.name in STRUCTS and target.name in STRUCTS):
        return 0
    return _target_cost(target) if target.name in _TARGETS.get(source.name, ()) or source.name == "VARIANT" else None


def _of_text(target: Type) -> int | None:
    if not _complete(target):
        return None
    return 1 if target.name == "VARCHAR" else 20


def _complete(target: Type) -> bool:
    """Return whether a value can have this type, templates aside."""
    if target.children:
        return all(map(_complete, target.children))
    if target.name == "DECIMAL":
        return bool(target.numbers)
    return target.name not in ("ANY", "STRUCT", "TUPLE", "UNION", "MAP", "LIST", "ARRAY", "VARIANT")


def _of_integer(source: Type, target: Type) -> int | None:
    own = settled(source)
    if own.name == target.name:
        return 0
    if target.name in ("FLOAT", "DOUBLE") or (target.name in INTEGERS and fits(source, target)):
        return _target_cost(target) - 90
    return None if target.name == "JSON" else cast_cost(own, target)


def _of_json(source: Type, target: Type) -> int | None:
    if source.name == target.name:
        return 0
    if target.name == "JSON":
        return 100 if source.text == "JSON[]" else _TO_JSON.get(source.name, 0)
    return 1 if target.name == "VARCHAR" else None


def _of_nested(source: Type, target: Type) -> int | None:
    if source.name in STRUCTS and target.name in STRUCTS:
        return _of_structs(source, target) if target.children else 0
    if source.name in LISTS and target.name in LISTS:
        return _of_lists(source, target)
    if "UNION" in (source.name, target.name):
        return 0 if source == target or (source.name == target.name and not target.children) else None
    return 0 if source.name == target.name == "MAP" else None


def _of_lists(source: Type, target: Type) -> int | None:
    cost = _of_child(source.children[0], target.children[0])
    if cost is None or not _lengths_agree(source, target):
        return None
    # Lists are cast to lists rather than to text.
    match source.name, target.name:
        case "LIST", "LIST":
            return max(cost - 1, 0)
        case "ARRAY", "ARRAY":
            return cost - 1 if cost >= 100 else cost
        case "ARRAY", "LIST":
            return cost + 1
        case _:
            return cost


def _of_child(source: Type, target: Type) -> int | None:
    """Return the cost of a nested cast, where casts of the JSON extension do not apply."""
    if source not in (target, NULL) and "JSON" in (source.name, target.name):
        return cast_cost(source, target) if target.name == "ANY" or target.name in TEMPLATES else None
    return cast_cost(source, target)


def _lengths_agree(source: Type, target: Type) -> bool:
    if target.name != "ARRAY":
        return True
    any_length = target.numbers == (-1,)
    return (source.numbers == target.numbers or any_length) if source.name == "ARRAY" else not any_length


def _of_structs(source: Type, target: Type) -> int | None:
    if len(source.children) != len(target.children):
        return None
    pairs = list(zip(source.children, target.children, strict=True))
    if source.names and target.names:
        wanted = {unquoted(name).lower(): child for name, child in zip(target.names, target.children, strict=True)}
        given = [unquoted(name).lower() for name in source.names]
        if set(given) != set(wanted) or len(set(given)) != len(given) or len(wanted) != len(target.names):
            return None
        pairs = [(child, wanted[name]) for name, child in zip(given, source.children, strict=True)]
    costs = [_of_child(*pair) for pair in pairs]
    return None if None in costs else max(cost for cost in costs if cost is not None)
