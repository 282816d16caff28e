"""Which words of the grammar are never names, and which are keywords only before certain others."""

from __future__ import annotations

RESERVED = frozenset({
    "ALL", "AND", "AS", "BETWEEN", "BY", "CASE", "CREATE", "DISTINCT", "ELSE", "EVENT", "EXCEPT", "EXISTS", "FALSE",
    "FROM", "GROUP", "HAVING", "IN", "INTERSECT", "INTO", "IS", "JOIN", "LIKE", "LIMIT", "NOT", "NULL", "ON", "OR",
    "ORDER", "QUALIFY", "SELECT", "SPAN", "THEN", "TRUE", "UNION", "USING", "VALUES", "WHEN", "WHERE", "WITH",
})  # fmt: skip
"""Words that are keywords everywhere, except after a dot and before `=>`."""

BEFORE = {
    "CAST": frozenset({"("}),
    "TRY_CAST": frozenset({"("}),
    "ROLLUP": frozenset({"("}),
    "CUBE": frozenset({"("}),
    "FILTER": frozenset({"("}),
    "INTERVAL": frozenset({"STRING", "NUMBER", "("}),
    "EXTRACT": frozenset({"("}),
    "DATE": frozenset({"STRING"}),
    "TIME": frozenset({"STRING", "ZONE"}),
    "TIMESTAMP": frozenset({"STRING"}),
    "TIMESTAMPTZ": frozenset({"STRING"}),
    "TIMESTAMP_NS": frozenset({"STRING"}),
    "MAP": frozenset({"{", "("}),
    "STRUCT": frozenset({"("}),
    "ANY": frozenset({"("}),
    "UUID": frozenset({"STRING"}),
    "BLOB": frozenset({"STRING"}),
    "JSON": frozenset({"STRING"}),
    "TIMESTAMP_MS": frozenset({"STRING"}),
    "TIMESTAMP_S": frozenset({"STRING"}),
    "LATERAL": frozenset({"(", "UNNEST", "RANGE", "GENERATE_SERIES", "JSON_EACH", "JSON_TREE"}),
    "MATERIALIZED": frozenset({"("}),
    "SIMILAR": frozenset({"TO"}),
    "GROUPING": frozenset({"SETS"}),
    "IGNORE": frozenset({"NULLS"}),
    "RESPECT": frozenset({"NULLS"}),
    "CURRENT": frozenset({"ROW"}),
    "FETCH": frozenset({"FIRST", "NEXT"}),
    "UNBOUNDED": frozenset({"PRECEDING", "FOLLOWING"}),
    "ENUM": frozenset({"("}),
    "SECURE": frozenset({"VIEW", "RECURSIVE"}),
    "NEAREST": frozenset({"BY", "NUMBER"}),
    "APPROX": frozenset({"NEAREST"}),
    "EXACT": frozenset({"NEAREST"}),
}
"""Words that are keywords only directly before one of these tokens."""

PHRASES = {"WITHIN": (("GROUP", "("), "WITHIN_GROUP"), "AT": (("TIME", "ZONE"), "AT_TIME"), "SOME": (("(",), "ANY")}
"""Words that are keywords only before these tokens, with the names of their terminals."""

NEGATABLE = frozenset({"IN", "LIKE", "ILIKE", "GLOB", "REGEXP", "SIMILAR"})
"""Operators that may begin with NOT, besides BETWEEN."""

ENDING = frozenset({
    "ASC", "DESC", "END", "EXPORT_STATE", "FIRST", "FOLLOWING", "FUNCTIONS", "ISNULL", "LAST", "MOUNTS", "NOTNULL",
    "NULLS", "PARTITION", "PRECEDING", "PRECISION", "ROW", "TABLES", "UNITS", "ZONE",
})  # fmt: skip
"""Words that may end a phrase; the others are names before AFTER_NAMES where a name is valid."""

AFTER_NAMES = frozenset({",", ")", ".", ";", "$END", "AS", "FROM", "GROUP", "ORDER", "WHERE"})

_PLAIN_UNITS = "YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND DECADE"
INTERVAL_UNITS = frozenset({
    *_PLAIN_UNITS.split(), *(f"{word}S" for word in _PLAIN_UNITS.split()),
    "CENTURY", "CENTURIES", "MILLENNIUM", "MILLENNIA",
})  # fmt: skip
"""Units of an INTERVAL."""

TYPE_WORDS = frozenset({
    *("BIGINT", "BIGNUM", "BIT", "BOOL", "BOOLEAN", "DECIMAL", "DOUBLE", "FLOAT", "FLOAT32", "FLOAT64", "HUGEINT"),
    *("INT", "INTEGER", "INT8", "INT16", "INT32", "INT64", "INT128", "NUMERIC", "REAL", "SMALLINT", "STRING", "TEXT"),
    *("TIMETZ", "TIME_NS", "TINYINT", "UBIGINT", "UHUGEINT", "UINTEGER", "USMALLINT", "UTINYINT", "VARCHAR"),
    *("UINT8", "UINT16", "UINT32", "UINT64", "UINT128", "BITSTRING", "GEOMETRY", "VARIANT", "DATETIME"),
})  # fmt: skip
"""Types whose names may precede a string, besides those that are keywords there."""

WORDED = frozenset({"overlay", "substr", "substring", "trim"})
"""Functions that accept FROM and FOR between their arguments."""

LISTINGS = frozenset({"UNNEST", "RANGE", "GENERATE_SERIES"})
"""Functions in FROM whose rows are elsewhere the elements of a list."""

JSON_TABLES = frozenset({"JSON_EACH", "JSON_TREE"})
"""Functions in FROM whose rows are the parts of a JSON value."""

OF_EXPRESSIONS = LISTINGS | JSON_TABLES
"""Functions in FROM that take expressions, not arguments as functions of dctv do."""

LAMBDAS = frozenset({
    *("list_transform", "array_transform", "list_apply", "array_apply", "apply"),
    *("list_filter", "array_filter", "filter", "list_reduce", "array_reduce", "reduce"),
})  # fmt: skip
"""Functions that take a lambda after their first argument, where an arrow behind a name begins its body."""
