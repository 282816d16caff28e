"""The dialect's names of types become the engine's, and back."""

from __future__ import annotations

import duckdb
import pytest

from dctv.errors import BindError
from dctv.types.values import dialect_type, engine_type, is_float, is_integer, is_numeric, is_string, known_types

OWN = {
    "BOOL": "BOOLEAN",
    "INT8": "TINYINT",
    "INT16": "SMALLINT",
    "INT32": "INTEGER",
    "INT64": "BIGINT",
    "UINT8": "UTINYINT",
    "UINT16": "USMALLINT",
    "UINT32": "UINTEGER",
    "UINT64": "UBIGINT",
    "FLOAT32": "FLOAT",
    "FLOAT64": "DOUBLE",
    "STRING": "VARCHAR",
    "BYTES": "BLOB",
}


@pytest.mark.parametrize(("dialect", "engine"), OWN.items())
def test_own_names_go_both_ways(dialect: str, engine: str) -> None:
    assert engine_type(dialect) == engine
    assert engine_type(dialect.lower()) == engine
    assert dialect_type(engine) == dialect


@pytest.mark.parametrize(
    ("name", "arguments", "dimensions", "engine"),
    [
        ("VARCHAR", (10,), (), "VARCHAR"),
        ("DOUBLE PRECISION", (), (), "DOUBLE"),
        ("REAL", (), (), "FLOAT"),
        ("INTEGER", (), (None, None), "INTEGER[][]"),
        ("INT", (), (None, 3), "INTEGER[][3]"),
        ("DECIMAL", (18, 3), (), "DECIMAL(18,3)"),
        ("NUMERIC", (9,), (None,), "DECIMAL(9,0)[]"),
        ("TIMESTAMP", (), (), "TIMESTAMP"),
        ("HUGEINT", (), (), "HUGEINT"),
        ("JSON", (), (), "JSON"),
        ("UUID", (), (), "UUID"),
    ],
)
def test_engine_type(name: str, arguments: tuple[int, ...], dimensions: tuple[int | None, ...], engine: str) -> None:
    assert engine_type(name, arguments, dimensions) == engine


@pytest.mark.parametrize("name", known_types())
def test_the_engine_knows_every_type_by_the_name_it_is_given(name: str) -> None:
    engine = engine_type(name)
    with duckdb.connect() as connection:
        found = str(connection.sql(f"SELECT NULL::{engine} AS x").types[0])
    assert found == ("DECIMAL(18,3)" if engine == "DECIMAL" else engine)


@pytest.mark.parametrize(
    ("engine", "dialect"),
    [
        ("BIGINT[]", "INT64[]"),
        ("DOUBLE[3][]", "FLOAT64[3][]"),
        ("STRUCT(a INTEGER, b VARCHAR[])", "STRUCT(a INT32, b STRING[])"),
        (
            'STRUCT("BIGINT, (x" BIGINT, "y""z" STRUCT(q BOOLEAN))[]',
            'STRUCT("BIGINT, (x" INT64, "y""z" STRUCT(q BOOL))[]',
        ),
        ("MAP(VARCHAR, BIGINT)", "MAP(STRING, INT64)"),
        ("UNION(a INTEGER, b VARCHAR)", "UNION(a INT32, b STRING)"),
        ("ENUM('BIGINT', 'a)')", "ENUM('BIGINT', 'a)')"),
        ("DECIMAL(18,3)", "DECIMAL(18,3)"),
        ("TIMESTAMP WITH TIME ZONE", "TIMESTAMP WITH TIME ZONE"),
    ],
)
def test_dialect_type(engine: str, dialect: str) -> None:
    assert dialect_type(engine) == dialect


@pytest.mark.parametrize(
    ("name", "arguments", "message", "hint"),
    [
        ("INT65", (), "unknown type `INT65`", "did you mean `INT64`?"),
        ("strng", (), "unknown type `strng`", "did you mean `STRING`?"),
        ("QQQQ", (), "unknown type `QQQQ`", None),
        ("float8", (), "unknown type `float8`", "numbers in names count bits: `FLOAT64`"),
        ("INT4", (), "unknown type `INT4`", "numbers in names count bits: `INT32`"),
        ("INT64", (3,), "type `INT64` takes no arguments, found 1", None),
        (
            "DECIMAL",
            (50, 2),
            "`DECIMAL(50, 2)` is no decimal type, expected 1 to 38 digits and at most as many places",
            None,
        ),
    ],
)
def test_errors(name: str, arguments: tuple[int, ...], message: str, hint: str | None) -> None:
    with pytest.raises(BindError) as caught:
        engine_type(name, arguments)
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_predicates() -> None:
    assert {n for n in OWN if is_integer(OWN[n])} == {n for n in OWN if "INT" in n}
    assert {n for n in OWN if is_float(OWN[n])} == {"FLOAT32", "FLOAT64"}
    assert is_numeric("DECIMAL(18,3)")
    assert is_numeric("HUGEINT")
    assert not is_numeric("VARCHAR")
    assert not is_numeric("BIGINT[]")
    assert is_string("VARCHAR")
    assert not is_string("VARCHAR[]")
