"""A partition column may be of any type: each operator gives what it gives for numbered partitions."""

from __future__ import annotations

import pytest

from dctv.session import Session
from tests.semantics.oracle import in_order

TYPES = {
    "BOOLEAN": ("true", "false"),
    "TINYINT": ("-128", "127"),
    "BIGINT": ("(-9223372036854775808)", "9223372036854775807"),
    "UINT32": ("0", "4294967295"),
    "UINT64": ("0", "18446744073709551615"),
    "FLOAT32": ("0.5", "'nan'"),
    "DOUBLE": ("'-inf'", "'nan'"),
    "DECIMAL(10, 2)": ("1.25", "2"),
    "TEXT": ("''", "'it''s'"),
    "BYTES": ("'\\x00\\xff'", "''"),
    "DATE": ("'1970-01-01'", "'2020-01-01'"),
    "TIMESTAMP": ("'1970-01-01'", "'2020-01-01'"),
}
QUERIES = [
    "SELECT SPAN a.n AS n, b.n AS m FROM t AS a SPAN OUTER JOIN (SELECT SPAN n FROM t WHERE n > 1) AS b",
    "SELECT SPAN a.n AS n, w FROM t AS a SPAN OUTER BROADCAST FROM g",
    "SELECT SPAN SUM(n) AS s, COUNT(DISTINCT k) AS c FROM t GROUP AND UNION USING PARTITION",
    "SELECT SPAN SUM(n) AS s FROM t GROUP AND INTERSECT USING PARTITION",
    "SELECT SPAN w, SUM(n) AS s, COUNT(*) AS c FROM t GROUP AND INTERSECT USING SPANS FROM g",
    "SELECT SPAN DISTINCT n > 1 AS more FROM t",
    """SELECT EVENT m, n FROM dctv.as_events((SELECT _ts, k, n AS m FROM t), partition=>'k')
        SPAN LEFT JOIN (SELECT SPAN n FROM t WHERE n > 1) AS t""",
]


def _tables(session: Session, kind: str, values: tuple[str, ...]) -> None:
    keys = [*values, "NULL", values[0]]
    rows = ", ".join(f"({at}, 3, CAST({key} AS {kind}), {at + 1})" for at, key in zip((0, 1, 2, 4), keys, strict=True))
    spans = f"dctv.as_spans((SELECT * FROM (VALUES {rows}) AS v(_ts, _duration, k, n)), partition=>'k')"
    windows = "dctv.as_spans((SELECT * FROM (VALUES (0, 2, 'a'), (2, 4, 'b')) AS v(_ts, _duration, w)))"
    session.sql(f"CREATE OR REPLACE VIEW t AS SELECT SPAN * FROM {spans}")
    session.sql(f"CREATE OR REPLACE VIEW g AS SELECT SPAN * FROM {windows}")


def _rows(session: Session, query: str) -> list[tuple[object, ...]]:
    """Return the rows without their partition, which `n` stands for."""
    result = session.sql(query)
    own = [i for i, column in enumerate(result.schema.columns) if column.name != "k"]
    return in_order(tuple(row[i] for i in own) for row in result.fetchall())


@pytest.fixture(scope="module")
def numbered(one: Session) -> list[list[tuple[object, ...]]]:
    """What each query gives for numbered partitions."""
    _tables(one, "INT", ("1", "2"))
    return [_rows(one, query) for query in QUERIES]


@pytest.mark.parametrize("kind", sorted(TYPES))
def test_every_operator(one: Session, numbered: list[list[tuple[object, ...]]], kind: str) -> None:
    _tables(one, kind, TYPES[kind])
    assert [_rows(one, query) for query in QUERIES] == numbered


def test_both_zeros_are_one_partition(one: Session) -> None:
    sides = [
        f"dctv.as_spans((SELECT 0 AS _ts, 4 AS _duration, {zero} AS k, 1 AS n), partition=>'k')"
        for zero in ("0.0::DOUBLE", "-(0.0::DOUBLE)")
    ]
    query = f"SELECT SPAN a.n AS a, b.n AS b FROM {sides[0]} AS a SPAN OUTER JOIN {sides[1]} AS b"
    assert _rows(one, query) == [(0, 4, 1, 1)]


@pytest.mark.parametrize("kinds", [("UINT64", "BIGINT"), ("BIGINT", "UINT64"), ("UINT64", "TINYINT")])
def test_integers_of_two_types_are_compared_by_value(one: Session, kinds: tuple[str, str]) -> None:
    greatest = {"UINT64": "18446744073709551615", "BIGINT": "9223372036854775807", "TINYINT": "127"}
    sides = [
        f"""dctv.as_spans((SELECT * FROM (VALUES
            (0, 4, CAST({greatest[kind]} AS {kind}), 1), (0, 4, CAST(5 AS {kind}), 2))
            AS v(_ts, _duration, k, n)), partition=>'k')"""
        for kind in kinds
    ]
    query = f"SELECT SPAN a.n AS a, b.n AS b FROM {sides[0]} AS a SPAN OUTER JOIN {sides[1]} AS b"
    assert _rows(one, query) == in_order([(0, 4, 1, None), (0, 4, 2, 2), (0, 4, None, 1)])


def test_stacks_of_two_integer_types(one: Session) -> None:
    starts = "(SELECT * FROM (VALUES (0, CAST(18446744073709551615 AS UINT64), 'a'), (1, 3, 'b')) AS v(_ts, k, name))"
    stops = "(SELECT * FROM (VALUES (2, CAST(-1 AS BIGINT)), (5, 3)) AS v(_ts, k))"
    query = f"SELECT name, _duration FROM dctv.slices_from_stack(starts=>{starts}, stops=>{stops}, partition=>'k')"
    assert in_order(one.sql(query).fetchall()) == in_order([("a", None), ("b", 4)])
