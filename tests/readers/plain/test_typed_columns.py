"""Columns of Parquet and Arrow files: dates, times, decimals and lists are what the file says, as DuckDB reads them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.session import Session
from tests.bounds import bounded

TYPES = {
    "day": "DATE", "at": "TIME", "stamp": "TIMESTAMP", "ns": "TIMESTAMP_NS", "ms": "TIMESTAMP_MS",
    "zoned": "TIMESTAMP WITH TIME ZONE", "price": "DECIMAL(31,2)", "texts": "VARCHAR[]", "numbers": "INTEGER[]",
    "nested": "DOUBLE[][]", "days": "DATE[]", "prices": "DECIMAL(9,3)[]", "flags": "BOOLEAN[]",
    "struct": 'STRUCT(a INTEGER, "b c" VARCHAR, "in" STRUCT(d DATE, f DOUBLE))', "rooms": "STRUCT(x DECIMAL(30,2))[]",
    "map": "MAP(VARCHAR, DOUBLE)", "by_number": "MAP(INTEGER, VARCHAR[])",
}  # fmt: skip
QUERY = """
SELECT number, DATE '2024-01-01' + number AS day, TIME '10:00:00.000001' + INTERVAL (number) SECOND AS at,
  TIMESTAMP '2024-01-01 00:00:00.000001' + INTERVAL (number) DAY AS stamp,
  TIMESTAMP_NS '2024-01-01 00:00:00.000000001' AS ns, TIMESTAMP_MS '1969-12-31 23:59:59.999' AS ms,
  TIMESTAMPTZ '2024-01-01 00:00:00+02' AS zoned, CAST(12345678901234567890.12 AS DECIMAL(30, 2)) + number AS price,
  ['a, b', NULL, 'NULL', '"', '', 'it''s', '\\', '[x]'] AS texts, [number, NULL] AS numbers,
  [[0.1, 1e300], NULL, [], ['nan'::DOUBLE, 'inf'::DOUBLE]] AS nested, [DATE '0044-03-15', NULL] AS days,
  [1.500::DECIMAL(9, 3), -0.001::DECIMAL(9, 3)] AS prices, [true, NULL, false] AS flags,
  {'a': number, 'b c': 'it''s "x", {y: 1}\\', 'in': {'d': DATE '0044-03-15', 'f': 'nan'::DOUBLE}} AS struct,
  [{'x': CAST(12345678901234567890.12 AS DECIMAL(30, 2))}, NULL, {'x': NULL}] AS rooms,
  MAP {'': 0.1::DOUBLE, 'a"b': 'inf'::DOUBLE, 'NULL': NULL} AS map, MAP {number: ['a', NULL], -1: NULL} AS by_number
FROM (SELECT CAST(range AS INTEGER) AS number FROM range(3))
UNION ALL SELECT 3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, [], NULL, NULL, NULL, NULL,
  {'a': NULL, 'b c': NULL, 'in': NULL}, [], MAP {}, NULL
"""


def as_parquet(path: Path, table: pa.Table) -> Path:
    pq.write_table(table, path / "x.parquet")
    return path / "x.parquet"


def as_arrow(path: Path, table: pa.Table) -> Path:
    with pa.ipc.new_file(str(path / "x.arrow"), table.schema) as file:
        file.write_table(table)
    return path / "x.arrow"


WRITERS = [as_parquet, as_arrow]


def rows_of(table: str) -> pa.Table:
    with duckdb.connect() as connection:
        return connection.sql(table).to_arrow_table()


@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("write", WRITERS)
def test_values_and_types(write: Callable[[Path, pa.Table], Path], index: Literal[True, False], tmp_path: Path) -> None:
    wanted = rows_of(QUERY)
    path = write(tmp_path, wanted)
    with Session(index=index, index_dir=tmp_path / "index") as session:
        session.mount(path, "t")
        schema = session.columns("t.x")
        assert schema is not None
        found = {column.name: column.type for column in schema.columns}
        # Arrow keeps milliseconds as they are, Parquet's are microseconds to the engine.
        assert found == {"number": "BIGINT", **TYPES} | ({"ms": "TIMESTAMP"} if write is as_parquet else {})
        read = session.sql("SELECT * FROM t.x").arrow()
        assert [str(row) for row in read.to_pylist()] == [str(row) for row in wanted.to_pylist()]
        condition = "day >= DATE '2024-01-02' AND price > 1 AND len(numbers) = 2 AND texts[1] LIKE 'a%'"
        assert session.sql(f"SELECT number FROM t.x WHERE {condition}").fetchall() == [(1,), (2,)]


@pytest.mark.parametrize("write", WRITERS)
def test_files_in_from(write: Callable[[Path, pa.Table], Path], tmp_path: Path) -> None:
    path = write(tmp_path, rows_of(QUERY))
    with Session(index=False, allow_files=[tmp_path]) as session:
        text = f"SELECT MAX(stamp) + 5s AS at, SUM(price) AS total FROM '{path}'"
        assert session.sql(text).arrow().to_pylist() == [
            {"at": datetime(2024, 1, 3, 0, 0, 5, 1), "total": Decimal("37037036703703703673.36")}
        ]


@pytest.mark.parametrize("index", [False, True])
def test_times_partitions_and_roles_are_as_ever(index: Literal[True, False], tmp_path: Path) -> None:
    table = pa.table({
        "stamp": [datetime(2024, 1, 1, 0, 0, n) for n in (0, 2, 1)], "day": [date(2024, 1, n) for n in (1, 2, 1)],
        "kind": pa.array([Decimal("1.5"), Decimal("2.5"), Decimal("1.5")]), "at": [time(n) for n in (1, 2, 3)],
    })  # fmt: skip
    path = as_parquet(tmp_path, table)
    with Session(index=index, index_dir=tmp_path / "index") as session:
        session.sql(f"MOUNT TRACE '{path}' AS t WITH (timestamp=>'stamp', partition=>'day', name=>'kind')")
        schema = session.columns("t.raw_events.x")
        assert schema is not None
        assert schema.describe() == "event table partitioned by day"
        assert [(one.name, one.type) for one in schema.columns] == [
            ("_ts", "BIGINT"), ("day", "VARCHAR"), ("kind", "DOUBLE"), ("at", "TIME"),
        ]  # fmt: skip
        assert session.sql("SELECT EVENT at FROM t.raw_events.x").fetchall() == [
            (0, "2024-01-01", "01:00:00"), (10**9, "2024-01-01", "03:00:00"), (2 * 10**9, "2024-01-02", "02:00:00"),
        ]  # fmt: skip
        assert session.sql("SELECT name, args FROM t.events LIMIT 1").fetchall() == [
            ("1.5", '{"day":"2024-01-01","at":"01:00:00"}')
        ]


def test_members_and_keys(tmp_path: Path) -> None:
    path = as_parquet(tmp_path, rows_of(QUERY))
    with Session(index=False) as session:
        session.mount(path, "t")
        text = (
            "SELECT struct.in.d AS d, rooms[1].x AS x, map[''] AS m, by_number[2][1] AS b FROM t.x WHERE struct.a = 2"
        )
        found = session.sql(text).arrow().to_pylist()
        assert found == [{"d": date(44, 3, 15), "x": Decimal("12345678901234567890.12"), "m": 0.1, "b": "a"}]
        assert session.sql("SELECT COUNT(*) FROM t.x WHERE struct IS NULL OR map IS NULL").fetchall() == [(0,)]
        assert session.sql("SELECT COUNT(*) FROM t.x WHERE struct.a IS NULL AND by_number IS NULL").fetchall() == [(1,)]


def test_arguments_of_events_are_nested_as_before(tmp_path: Path) -> None:
    path = as_parquet(tmp_path, pa.table({"_ts": [5], "s": [{"a": 1, "b": [{"c": None}]}]}))
    with Session(index=False) as session:
        session.mount(path, "t")
        assert session.sql("SELECT args FROM t.events").fetchall() == [('{"s":{"a":1,"b":[{"c":null}]}}',)]


@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_uuids(ending: str, index: Literal[True, False], tmp_path: Path) -> None:
    one = UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")
    values = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([one.bytes, None], pa.binary(16)))
    path = tmp_path / f"x.{ending}"
    if ending == "parquet":
        with duckdb.connect() as connection:
            connection.sql(f"COPY (SELECT unnest([UUID '{one}', NULL]) AS u) TO '{path}'")
    else:
        as_arrow(tmp_path, pa.table({"u": values}))
    with Session(index=index, index_dir=tmp_path / "index") as session:
        session.mount(path, "t")
        schema = session.columns("t.x")
        assert schema is not None
        assert [column.type for column in schema.columns] == ["UUID"]
        assert session.sql(f"SELECT u FROM t.x WHERE u = UUID '{one}'").fetchall() == [(str(one),)]
        assert session.sql("SELECT COUNT(*) FROM t.x WHERE u IS NULL").fetchall() == [(1,)]


def test_units_beside_members(tmp_path: Path) -> None:
    fields = [pa.field("took", pa.int64(), metadata={"unit": "ns"}), pa.field("s", pa.struct([("took", pa.int64())]))]
    path = as_parquet(tmp_path, pa.table([[5], [{"took": 6}]], pa.schema(fields)))
    with Session(index=False) as session:
        session.mount(path, "t")
        result = session.sql("SELECT took, s.took AS bare FROM t.x")
        assert [(one.name, str(one.unit)) for one in result.schema.columns] == [("took", "ns"), ("bare", "")]


def test_other_structures_stay_json(tmp_path: Path) -> None:
    path = as_parquet(tmp_path, pa.table({"s": pa.array([[b"ab"]], pa.list_(pa.binary()))}))
    with Session(index=False) as session:
        session.mount(path, "t")
        assert session.sql("SELECT s FROM t.x").fetchall() == [('["ab"]',)]


TEXTS = st.text(st.sampled_from("ab'\"\\,[]{}: \n\tNULnulé;="), max_size=5)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "VARCHAR[]": st.lists(st.none() | TEXTS, max_size=4),
    "DATE": st.dates(date(1, 1, 1), date(9999, 12, 31)),
    "TIMESTAMP": st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)),
    "TIME": st.times(),
    "DECIMAL(38,10)": st.decimals(-(10**27), 10**27, allow_nan=False, places=10),
    "DOUBLE[]": st.lists(st.none() | st.floats(allow_nan=False), max_size=4),
    "STRUCT(a VARCHAR, b DOUBLE, c TIMESTAMP)": st.fixed_dictionaries(
        {
            "a": st.none() | TEXTS,
            "b": st.none() | st.floats(allow_nan=False),
            "c": st.none() | st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)),
        }
    ),
    "MAP(VARCHAR, BIGINT)": st.dictionaries(TEXTS, st.none() | st.integers(-(2**63), 2**63 - 1), max_size=3).map(
        lambda found: {"key": [*found], "value": [*found.values()]}
    ),
    "BIGINT[][]": st.lists(st.none() | st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), max_size=3), max_size=3),
}


def columns_of(rows: int) -> st.SearchStrategy[dict[str, list[Any]]]:
    """Draw a table with a column of each kind."""
    return st.fixed_dictionaries(
        {kind: st.lists(st.none() | values, min_size=rows, max_size=rows) for kind, values in VALUES.items()}
    )


@bounded(90)
@given(st.integers(1, 5).flatmap(columns_of))
def test_any_values(tmp_path_factory: pytest.TempPathFactory, columns: dict[str, list[Any]]) -> None:
    made = ", ".join(f'unnest(CAST(? AS {kind}[])) AS "{kind}"' for kind in columns)
    with duckdb.connect() as connection:
        wanted = connection.sql(f"SELECT {made}", params=list(columns.values())).to_arrow_table()
    path = as_parquet(tmp_path_factory.mktemp("any"), wanted)
    with Session(index=False) as session:
        session.mount(path, "t")
        read = session.sql("SELECT * FROM t.x").arrow()
    assert set(read.column_names) == set(columns)
    for kind in columns:
        assert read[kind].combine_chunks().equals(wanted[kind].combine_chunks()), kind
