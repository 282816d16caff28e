"""Translate the dialect's names of value types (`INT64`, `STRING`) to the engine's (`BIGINT`, `VARCHAR`), and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from dctv.errors import BindError, nearest
from dctv.patterns import pattern

_DIALECT = {
    "BOOL": "BOOLEAN",
    "INT8": "TINYINT",
    "INT16": "SMALLINT",
    "INT32": "INTEGER",
    "INT64": "BIGINT",
    "INT128": "HUGEINT",
    "UINT8": "UTINYINT",
    "UINT16": "USMALLINT",
    "UINT32": "UINTEGER",
    "UINT64": "UBIGINT",
    "UINT128": "UHUGEINT",
    "FLOAT32": "FLOAT",
    "FLOAT64": "DOUBLE",
    "STRING": "VARCHAR",
    "BYTES": "BLOB",
}
"""The dialect's own names; a number in a name counts bits (the engine's INT8 has 8 bytes)."""

_SYNONYMS = {
    "BOOLEAN": "BOOLEAN",
    "LOGICAL": "BOOLEAN",
    "TINYINT": "TINYINT",
    "SMALLINT": "SMALLINT",
    "INTEGER": "INTEGER",
    "INT": "INTEGER",
    "BIGINT": "BIGINT",
    "HUGEINT": "HUGEINT",
    "UTINYINT": "UTINYINT",
    "USMALLINT": "USMALLINT",
    "UINTEGER": "UINTEGER",
    "UBIGINT": "UBIGINT",
    "UHUGEINT": "UHUGEINT",
    "REAL": "FLOAT",
    "FLOAT": "FLOAT",
    "DOUBLE": "DOUBLE",
    "DOUBLE PRECISION": "DOUBLE",
    "TEXT": "VARCHAR",
    "VARCHAR": "VARCHAR",
    "CHAR": "VARCHAR",
    "CHARACTER": "VARCHAR",
    "CHARACTER VARYING": "VARCHAR",
    "CHAR VARYING": "VARCHAR",
    "BLOB": "BLOB",
    "BINARY": "BLOB",
    "VARBINARY": "BLOB",
    "BYTEA": "BLOB",
    "DECIMAL": "DECIMAL",
    "DEC": "DECIMAL",
    "NUMERIC": "DECIMAL",
    "DATE": "DATE",
    "TIME": "TIME",
    "DATETIME": "TIMESTAMP",
    "TIMESTAMP": "TIMESTAMP",
    "TIMESTAMP_S": "TIMESTAMP_S",
    "TIMESTAMP_MS": "TIMESTAMP_MS",
    "TIMESTAMP_US": "TIMESTAMP",
    "TIMESTAMP_NS": "TIMESTAMP_NS",
    "TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMP WITH TIME ZONE",
    "INTERVAL": "INTERVAL",
    "JSON": "JSON",
    "UUID": "UUID",
    "BIT": "BIT",
    "BITSTRING": "BIT",
    "BIGNUM": "BIGNUM",
    "GEOMETRY": "GEOMETRY",
    "TIMETZ": "TIME WITH TIME ZONE",
    "TIME WITH TIME ZONE": "TIME WITH TIME ZONE",
    "TIME_NS": "TIME_NS",
    "VARIANT": "VARIANT",
    "GUID": "UUID",
    "NVARCHAR": "VARCHAR",
    "BPCHAR": "VARCHAR",
    "SIGNED": "INTEGER",
    "LONG": "BIGINT",
    "SHORT": "SMALLINT",
    "OID": "BIGINT",
}
"""Further names that CAST accepts."""

_BY_BYTES = {"INT2": "INT16", "INT4": "INT32", "FLOAT4": "FLOAT32", "FLOAT8": "FLOAT64"}
"""Names of other dialects, whose INT8 is INT64 here."""

_ENGINE = {**_DIALECT, **_SYNONYMS}
_BACK = {engine: dialect for dialect, engine in _DIALECT.items()}
_NESTED = {"ENUM", "MAP", "ROW", "STRUCT", "UNION"}
_WITH_LENGTH = {"VARCHAR", "BLOB"}
_MAX_DIGITS = 38

_INTEGERS = {engine for dialect, engine in _DIALECT.items() if "INT" in dialect}
_WIDER_THAN_INT64 = ("UBIGINT", "HUGEINT", "UHUGEINT")
_FLOATS = {"FLOAT", "DOUBLE"}
_DIMENSION = pattern(r"\[\d*\]$")
_PIECE = pattern(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|.""", re.DOTALL)
_FIELD = pattern(r"""(?P<name>"(?:[^"]|"")*"|[^\s"]+)\s+(?P<type>.+)""", re.DOTALL)


def engine_type(
    name: str, arguments: Sequence[int] = (), dimensions: Sequence[int | None] = (), others: Iterable[str] = ()
) -> str:
    """Return the engine's name of a type as written: `engine_type("INT64", (), [None, 3])` is `BIGINT[][3]`.

    An error names the most similar type, which may be one of `others`.

    Raises:
        BindError: The type is unknown or its arguments do not fit; without a place.
    """
    engine = _ENGINE.get(name.upper())
    if engine is None:
        bits = _BY_BYTES.get(name.upper())
        near = nearest(name, [*_ENGINE, *others])
        hint = f"numbers in names count bits: `{bits}`" if bits else f"did you mean `{near}`?" if near else None
        raise BindError(f"unknown type `{name}`", hint=hint)
    return engine + _arguments(name, engine, arguments) + brackets(dimensions)


def is_type(name: str) -> bool:
    """Whether a name means a type of the dialect, in any case."""
    return name.upper() in _ENGINE or name.upper() in _NESTED


def brackets(dimensions: Sequence[int | None]) -> str:
    """Return the brackets after the type of elements, for lists (None) and arrays of some lengths."""
    return "".join("[]" if length is None else f"[{length}]" for length in dimensions)


def dialect_type(engine_name: str) -> str:
    """Return the dialect's name of an engine's type; nested names may be the only difference (`INT64[]`)."""
    inner = _DIMENSION.search(engine_name)
    if inner:
        return dialect_type(engine_name[: inner.start()]) + inner[0]
    head, bracket, rest = engine_name.partition("(")
    if not bracket:
        return _BACK.get(engine_name, engine_name.strip('"'))
    parts = [part.strip() for part in _split(rest.removesuffix(")"))]
    if head in {"STRUCT", "UNION"}:
        return f"{head}({', '.join(_dialect_field(part) for part in parts)})"
    if head == "MAP":
        return f"{head}({', '.join(dialect_type(part) for part in parts)})"
    if head == "AGGREGATE_STATE":
        taken = [dialect_type(part) for part in parts[2:] if not part.startswith("'")]
        return f"{head}({parts[0]}({', '.join(taken)}))"
    return engine_name


def known_types() -> list[str]:
    """Return every name that CAST accepts, the dialect's own first."""
    return list(_ENGINE)


def is_integer(engine_name: str) -> bool:
    """Whether the engine's type holds whole numbers only."""
    return engine_name in _INTEGERS


def fits_int64(engine_name: str) -> bool:
    """Whether the engine's type holds whole numbers that all fit into signed 64 bits."""
    return is_integer(engine_name) and engine_name not in _WIDER_THAN_INT64


def common_integer(a: str, b: str) -> str:
    """Return a type that holds the values of two integer types of the engine, for comparing them."""
    types = {a, b}
    if len(types) == 1:
        return a
    if types & {"HUGEINT", "UHUGEINT"}:
        return "DECIMAL(38,0)"
    if "UBIGINT" not in types:
        return "BIGINT"
    return "UBIGINT" if all(one.startswith("U") for one in types) else "DECIMAL(20,0)"


def is_float(engine_name: str) -> bool:
    """Whether the engine's type is binary floating point."""
    return engine_name in _FLOATS


def is_numeric(engine_name: str) -> bool:
    """Whether the engine's type can be calculated with."""
    return is_integer(engine_name) or is_float(engine_name) or engine_name.partition("(")[0] == "DECIMAL"


def may_have_unit(engine_name: str) -> bool:
    """Whether the engine's type is one of numbers, or of lists of them."""
    return is_numeric(engine_name.partition("[")[0])


def is_string(engine_name: str) -> bool:
    """Whether the engine's type is text."""
    return engine_name == "VARCHAR"


def _arguments(name: str, engine: str, arguments: Sequence[int]) -> str:
    """Return the arguments for the engine; it ignores a length of texts, which is dropped."""
    if not arguments or (engine in _WITH_LENGTH and len(arguments) == 1):
        return ""
    if engine != "DECIMAL":
        raise BindError(f"type `{name}` takes no arguments, found {len(arguments)}")
    digits, places = (*arguments, 0)[:2]
    if len(arguments) > 2 or not 1 <= digits <= _MAX_DIGITS or not 0 <= places <= digits:
        written = ", ".join(str(argument) for argument in arguments)
        raise BindError(
            f"`{name}({written})` is no decimal type, expected 1 to {_MAX_DIGITS} digits and at most as many places"
        )
    return f"({digits},{places})"


def _dialect_field(field: str) -> str:
    match = _FIELD.fullmatch(field)
    return f"{match['name']} {dialect_type(match['type'])}" if match else dialect_type(field)


def _split(text: str) -> Iterator[str]:
    """Split at the commas outside of parentheses and quotes."""
    part, depth = "", 0
    for piece in _PIECE.findall(text):
        depth += (piece == "(") - (piece == ")")
        if piece == "," and not depth:
            yield part
            part = ""
        else:
            part += piece
    yield part
