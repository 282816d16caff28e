"""Map DuckDB's type names to Spark types that hold the same values, and to kinds of values."""

from __future__ import annotations

from typing import Literal

from dctv.engines.sql.vetted.refusal import refused
from dctv.errors import NotOnThisEngine
from dctv.signatures.casts import INTEGERS, settled
from dctv.signatures.types import Type, parse, plain

Kind = Literal["null", "bool", "integer", "decimal", "float", "text", "bytes", "date", "time", "list"]
"""The kind of a type's values; all numbers without a fraction are integers, in whatever type Spark stores them."""

_NAMES = {
    "BOOLEAN": "BOOLEAN",
    "TINYINT": "TINYINT",
    "SMALLINT": "SMALLINT",
    "INTEGER": "INT",
    "BIGINT": "BIGINT",
    "HUGEINT": "DECIMAL(38, 0)",
    "UTINYINT": "SMALLINT",
    "USMALLINT": "INT",
    "UINTEGER": "BIGINT",
    "UBIGINT": "DECIMAL(20, 0)",
    "FLOAT": "FLOAT",
    "DOUBLE": "DOUBLE",
    "VARCHAR": "STRING",
    "BLOB": "BINARY",
    "DATE": "DATE",
    "TIMESTAMP": "TIMESTAMP_NTZ",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMP",
}
"""Spark has no unsigned and no 128-bit integers: wider ones and decimals hold them."""
_KINDS: dict[str, Kind] = {
    "BOOLEAN": "bool",
    "DECIMAL": "decimal",
    "FLOAT": "float",
    "DOUBLE": "float",
    "VARCHAR": "text",
    "BLOB": "bytes",
    "DATE": "date",
    "TIMESTAMP": "time",
    "TIMESTAMP WITH TIME ZONE": "time",
    "LIST": "list",
    **dict.fromkeys(INTEGERS, "integer"),
}
NUMBERS: tuple[Kind, ...] = ("integer", "decimal", "float")
BITS = frozenset(("TINYINT", "SMALLINT", "INTEGER", "BIGINT"))
"""Integer types with the same bits on Spark."""

NULL, BOOLEAN, INTEGER, BIGINT, HUGEINT, DOUBLE, VARCHAR = (
    plain(name) for name in ('"NULL"', "BOOLEAN", "INTEGER", "BIGINT", "HUGEINT", "DOUBLE", "VARCHAR")
)
TEXT_LITERAL = plain("STRING_LITERAL")


def named(text: str) -> Type:
    """Parse DuckDB's name of a type.

    Raises:
        NotOnThisEngine: the type is unknown.
    """
    try:
        return parse("DECIMAL(18,3)" if text == "DECIMAL" else text)
    except ValueError:
        raise refused(f"the type `{text}`", "it is not known") from None


def spark_name(found: Type) -> str:
    """Return Spark's name of a type.

    Raises:
        NotOnThisEngine: Spark has no type that holds the same values.
    """
    plain = settled(found)
    if plain == NULL:
        return "VOID"
    if plain.name == "DECIMAL":
        width, scale = plain.numbers
        return f"DECIMAL({width}, {scale})"
    if plain.name == "LIST":
        return f"ARRAY<{spark_name(plain.children[0])}>"
    if plain.name not in _NAMES:
        raise refused(f"the type `{found}`", "no type there holds the same values")
    return _NAMES[plain.name]


def kind_of(found: Type) -> Kind:
    """Return the kind of a type's values.

    Raises:
        NotOnThisEngine: Spark has no such kind.
    """
    plain = settled(found)
    if NULL in (found, plain):
        return "null"
    if plain.name not in _KINDS:
        raise refused(f"the type `{found}`", "no type there holds the same values")
    return _KINDS[plain.name]


def holds(found: Type | None) -> bool:
    """Whether Spark can hold values of a type, which is known."""
    try:
        return found is not None and bool(kind_of(found))
    except NotOnThisEngine:
        return False
