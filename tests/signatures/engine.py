"""What the engine says of types: DESCRIBE over an empty table with a column of each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import duckdb

from dctv.engines.allowed import KINDS

PLAIN = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER"),
    *("UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE", "VARCHAR", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_S"),
    *("TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE", "TIME WITH TIME ZONE", "INTERVAL"),
)
OTHERS = (
    *("DECIMAL(18,3)", "DECIMAL(4,1)", "DECIMAL(38,10)", "BLOB", "UUID", "BIT", "BIGNUM", "JSON", "ENUM('a', 'b')"),
    *(
        "INTEGER[]",
        "VARCHAR[]",
        "DOUBLE[]",
        "BOOLEAN[]",
        "JSON[]",
        "DECIMAL(18,3)[]",
        "BIGINT[][]",
        "INTEGER[3]",
        "DOUBLE[3]",
    ),
    *("STRUCT(a INTEGER, b VARCHAR)", 'STRUCT(B BIGINT, "c d" DATE)', "TUPLE(INTEGER, VARCHAR)"),
    *("MAP(VARCHAR, BIGINT)", "STRUCT(a INTEGER, b VARCHAR)[]"),
)
COLUMNS = (*PLAIN, *OTHERS)
LITERALS = {
    "INTEGER_LITERAL(0)": "0",
    "INTEGER_LITERAL(1)": "1",
    "INTEGER_LITERAL(300)": "300",
    "INTEGER_LITERAL(-5)": "(-5)",
    "INTEGER_LITERAL(5000000000)": "5000000000",
    "INTEGER_LITERAL(18446744073709551616)": "18446744073709551616",
    "STRING_LITERAL": "'day'",
    "DOUBLE_LITERAL": "0.5e0",
    '"NULL"': "NULL",
}
ALL = (*COLUMNS, *LITERALS)
_OPTIONS = ("regexp_", "str_split", "string_split")
_SORTS = ("_sort", "grade_up")
_TEXTS_OF_SORTS = ("'desc'", "'nulls last'")
_SHAPES = {"NOT": "NOT {}", "~": "~{}", "IS NULL": "{} IS NULL", "BETWEEN": "{} BETWEEN {} AND {}"}


def operand(one: str) -> str:
    """Write an expression of a type."""
    return LITERALS[one] if one in LITERALS else f"c{COLUMNS.index(one)}"


def call(name: str, types: Sequence[str]) -> str:
    """Write the call of a function."""
    texts = iter(_TEXTS_OF_SORTS["reverse" in name :] if name.endswith(_SORTS) else ())
    plain = "'i'" if name.startswith(_OPTIONS) else LITERALS["STRING_LITERAL"]
    words = [next(texts, plain) if one == "STRING_LITERAL" else operand(one) for one in types]
    return f'"{name}"({", ".join(words)}){" OVER ()" if KINDS.get(name) == "window" else ""}'


def operation(op: str, types: Sequence[str]) -> str:
    """Write an operator and its operands."""
    words = [operand(one) for one in types]
    if op in _SHAPES:
        return _SHAPES[op].format(*words)
    if op == "IN":
        return f"{words[0]} IN ({', '.join(words[1:])})"
    return f"{op}({words[0]})" if len(words) == 1 else f"({words[0]}) {op} ({words[1]})"


def described(expressions: Sequence[str]) -> list[str | None]:
    """Return the types of expressions; None where the engine refuses one."""
    if not expressions:
        return []
    listed = ", ".join(f"{one} AS x{i}" for i, one in enumerate(expressions))
    try:
        return [row[1] for row in _connection().execute(f"DESCRIBE SELECT {listed} FROM t").fetchall()]
    except duckdb.Error:
        if len(expressions) == 1:
            return [None]
    half = len(expressions) // 2
    return [*described(expressions[:half]), *described(expressions[half:])]


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:", config={"threads": 1, "autoinstall_known_extensions": "false"})
    connection.execute(f"CREATE TABLE t ({', '.join(f'c{i} {one}' for i, one in enumerate(COLUMNS))})")
    return connection
