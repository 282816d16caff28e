"""Types as DuckDB names them -> how Spark names those that hold the same values, and what kind of values that is."""

from __future__ import annotations

from typing import Literal

from dctv.engines.sql.vetted.refusal import refused
from dctv.errors import NotOnThisEngine
from dctv.signatures.casts import INTEGERS, settled
from dctv.signatures.types import Type, parse, plain

Kind = Literal["null", "bool", "integer", "decimal", "float", "text", "bytes", "date", "time", "list"]
"""What values of a type are; all numbers of no fraction are integers, whatever Spark holds them as."""

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
"""Spark has no unsigned integers and none of 128 bits: wider ones and decimals hold them."""
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
"""Integers that are the same bits on Spark."""

NULL, BOOLEAN, INTEGER, BIGINT, HUGEINT, DOUBLE, VARCHAR = (
    plain(name) for name in ('"NULL"', "BOOLEAN", "INTEGER", "BIGINT", "HUGEINT", "DOUBLE", "VARCHAR")
)
TEXT_LITERAL = plain("STRING_LITERAL")


def named(text: str) -> Type:
    """Return the type that DuckDB names so.

    Raises:
        NotOnThisEngine: it is none that is known.
    """
    try:
        return parse("DECIMAL(18,3)" if text == "DECIMAL" else text)
    except ValueError:
        raise refused(f"the type `{text}`", "it is not known") from None


def spark_name(found: Type) -> str:
    """Return Spark's name of a type.

    Raises:
        NotOnThisEngine: Spark has none that holds the same values.
    """
    held = settled(found)
    if held == NULL:
        return "VOID"
    if held.name == "DECIMAL":
        width, scale = held.numbers
        return f"DECIMAL({width}, {scale})"
    if held.name == "LIST":
        return f"ARRAY<{spark_name(held.children[0])}>"
    if held.name not in _NAMES:
        raise refused(f"the type `{found}`", "no type there holds the same values")
    return _NAMES[held.name]


def kind_of(found: Type) -> Kind:
    """Return what the values of a type are.

    Raises:
        NotOnThisEngine: they are nothing that Spark has.
    """
    held = settled(found)
    if NULL in (found, held):
        return "null"
    if held.name not in _KINDS:
        raise refused(f"the type `{found}`", "no type there holds the same values")
    return _KINDS[held.name]


def holds(found: Type | None) -> bool:
    """Whether Spark has values of a type, which is known."""
    try:
        return found is not None and bool(kind_of(found))
    except NotOnThisEngine:
        return False
