"""Tables of the program get names in SQL: kinds, units, partitions, and refused tables."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import dctv
from dctv.errors import BindError, EngineError, UsageError

SPANS = {"_ts": [5, 0, 0], "_duration": [1, 5, 2], "cpu": [0, 0, None], "what": ["b", "a", None]}


@pytest.fixture
def session() -> Iterator[dctv.Session]:
    with dctv.Session() as one:
        yield one


def test_spans_are_sorted_and_keep_partitions(session: dctv.Session) -> None:
    session.add_table("my.spans", SPANS, kind="span", partitions=["cpu"])
    found = session.sql("SELECT SPAN what FROM my.spans").fetchall()
    assert found == [(0, 5, 0, "a"), (0, 2, None, None), (5, 1, 0, "b")]
    assert session.sql("SELECT SPAN COUNT(*) AS n FROM my.spans GROUP USING PARTITION").fetchall() == [
        (0, 2, 2),
        (2, 3, 1),
        (5, 1, 1),
    ]


def test_one_partition_needs_no_list(session: dctv.Session) -> None:
    session.add_table("one", SPANS, kind="span", partitions="cpu")
    assert session.sql("SELECT SPAN what FROM one").fetchall()[0] == (0, 5, 0, "a")


def test_units_are_given_or_carried(session: dctv.Session) -> None:
    session.add_table("t", {"size": [3]}, units={"size": "KiB"})
    first = session.sql("SELECT size * 2 AS double FROM t").arrow()
    session.add_table("u", first)
    assert session.sql("SELECT double IN bytes AS b FROM u").fetchall() == [(6144,)]


def test_only_numbers_have_units(session: dctv.Session) -> None:
    noted = pa.field("note", pa.string(), metadata={"unit": "ms"})
    session.add_table("t", pa.table([["x"]], schema=pa.schema([noted])))
    session.add_table("u", session.sql("SELECT note, NULL IN ms AS none, [5ms] AS several FROM t"))
    assert session.sql("SELECT * FROM u").units == {"none": "ms", "several": "ms"}
    with pytest.raises(UsageError, match=r"the column `note` is STRING\[\] and has no unit, found `ms`"):
        session.add_table("v", {"note": [["x"]]}, units={"note": "ms"})


@pytest.mark.parametrize("unit", ["ns", "us", "ms", "s"])
def test_durations_become_integers_with_their_unit(session: dctv.Session, unit: str) -> None:
    session.add_table("t", {"took": pa.array([1501, None, -1], pa.duration(unit))})
    result = session.sql("SELECT took FROM t")
    assert result.units == {"took": unit}
    assert result.fetchall() == [(1501,), (None,), (-1,)]
    assert session.sql(f"SELECT COUNT(*) FROM t WHERE took > 1500{unit}").fetchall() == [(1,)]


def test_durations_of_frames_and_dicts_are_exact(session: dctv.Session) -> None:
    session.add_table("pandas", pd.DataFrame({"took": pd.to_timedelta([1501, None], unit="ns")}))
    session.add_table("polars", pl.DataFrame({"took": [1501]}, schema={"took": pl.Duration("ns")}))
    session.add_table("plain", {"took": [timedelta(microseconds=1)]})
    both = "SELECT took FROM pandas UNION ALL SELECT took FROM polars UNION ALL SELECT took IN ns FROM plain"
    assert session.sql(both).fetchall() == [(1000,), (1501,), (1501,), (None,)]


def test_times_of_spans_may_be_durations(session: dctv.Session) -> None:
    times = pd.DataFrame({"_ts": pd.to_timedelta([0, 1500]), "_duration": pd.to_timedelta([1500, 7])})
    session.add_table("t", times, kind="span")
    assert session.sql("SELECT SPAN * FROM t").fetchall() == [(0, 1500), (1500, 7)]


def test_durations_may_be_given_no_other_unit(session: dctv.Session) -> None:
    took = {"took": pa.array([5], pa.duration("ns"))}
    session.add_table("t", took, units={"took": "nanoseconds"})
    with pytest.raises(UsageError, match="`took` has durations in ns, found the unit `ms` for it"):
        session.add_table("u", took, units={"took": "ms"})


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.duration("ns")),
        pa.struct([("a", pa.duration("ns"))]),
        pa.dictionary(pa.int32(), pa.duration("ns")),
        pa.map_(pa.string(), pa.duration("ns")),
    ],
    ids=str,
)
def test_durations_that_would_be_cut_are_refused(session: dctv.Session, kind: pa.DataType) -> None:
    with pytest.raises(UsageError, match=r"the column `took` has the type .* would be cut to microseconds"):
        session.add_table("t", pa.schema([("took", kind)]).empty_table())


def test_durations_of_datasets_are_refused(session: dctv.Session) -> None:
    data = ds.dataset(pa.table({"took": pa.array([5], pa.duration("ns"))}))
    with pytest.raises(UsageError, match="the column `took` of the dataset has durations") as caught:
        session.add_table("t", data)
    assert caught.value.hint == "add dataset.to_table() instead, or store it as int64"
    session.add_table("t", data.to_table())
    assert session.sql("FROM t").fetchall() == [(5,)]


@pytest.mark.parametrize(
    ("column", "cast"),
    [
        (pa.array([np.float16(1.5)]), "float32"),
        (pa.array([[np.float16(1.5)]], pa.list_(pa.float16())), "float32"),
        (pa.array([Decimal("1.5")], pa.decimal256(50, 2)), "decimal128 or float64"),
        (pa.array([Decimal(500)], pa.decimal128(5, -2)), "another type"),
    ],
    ids=lambda one: str(getattr(one, "type", one)),
)
def test_columns_that_the_engine_cannot_read_are_named(session: dctv.Session, column: pa.Array, cast: str) -> None:
    with pytest.raises(UsageError) as caught:
        session.add_table("t", {"ok": [1], "x": column})
    assert caught.value.message == f"the column `x` has the type {column.type}, which the engine cannot read"
    assert caught.value.hint == f"cast it to {cast}"


def test_results_of_a_session_can_be_added_as_tables(session: dctv.Session) -> None:
    session.add_table("a", SPANS, kind="span", partitions=["cpu"])
    session.add_table("b", session.sql("SELECT SPAN * FROM a").arrow(), kind="span", partitions=["cpu"])
    assert session.sql("SELECT COUNT(*) AS n FROM (SELECT SPAN x.what FROM a AS x SPAN JOIN b)").fetchall() == [(3,)]


def test_events(session: dctv.Session) -> None:
    session.add_table("e", {"_ts": [2, 1], "what": ["second", "first"]}, kind="event")
    assert session.sql("SELECT EVENT * FROM e").fetchall() == [(1, "first"), (2, "second")]


def test_frames_and_datasets(session: dctv.Session, tmp_path: Path) -> None:
    session.add_table("pandas", pd.DataFrame({"x": [1, 2]}))
    session.add_table("polars", pl.DataFrame({"x": [3]}))
    pq.write_table(pa.table({"x": [4]}), tmp_path / "x.parquet")
    session.add_table("stored", ds.dataset(tmp_path))
    both = "SELECT x FROM pandas UNION ALL SELECT x FROM polars UNION ALL SELECT x FROM stored"
    assert session.sql(both).fetchall() == [(1,), (2,), (3,), (4,)]


def test_names_that_differ_in_case(session: dctv.Session, tmp_path: Path) -> None:
    data = pa.table({"x": [1], "X": [2]})
    session.add_table("t", data)
    assert session.sql("SELECT * FROM t").fetchall() == [(1, 2)]
    pq.write_table(data, tmp_path / "x.parquet")
    with pytest.raises(UsageError, match="two columns of the dataset differ only in case"):
        session.add_table("u", ds.dataset(tmp_path))


def test_refusals(session: dctv.Session) -> None:
    session.add_table("t", {"x": [1]})
    with pytest.raises(BindError, match="the name `t` is taken") as caught:
        session.add_table("t", {"x": [1]})
    assert caught.value.hint == "DROP TABLE forgets a table"
    with pytest.raises(UsageError, match="a table has at least one column, found none"):
        session.add_table("u", {})
    with pytest.raises(UsageError, match="found dict: Python int too large"):
        session.add_table("u", {"x": [2**64]})
    for name in ("", "a..b", "t."):
        with pytest.raises(BindError, match=f"the name `{name}` has an empty part"):
            session.add_table(name, {"x": [1]})
    with pytest.raises(UsageError, match="the kind of a table is regular, event or span, found `spans`"):
        session.add_table("u", SPANS, kind="spans")
    with pytest.raises(UsageError, match="the table has no column `sise` that could have a unit"):
        session.add_table("u", {"size": [1]}, units={"sise": "byte"})
    with pytest.raises(UsageError, match="column 2 of the table has an empty name"):
        session.add_table("u", {"size": [1], "": [2]})
    with pytest.raises(UsageError, match="a table is a pyarrow Table or Dataset, a frame, or a dict of columns"):
        session.add_table("u", 5)
    with pytest.raises(BindError, match="has no column `_ts`"):
        session.add_table("u", {"x": [1]}, kind="span")
    with pytest.raises(EngineError, match="spans overlap"):
        session.add_table("u", {"_ts": [0, 1], "_duration": [5, 5]}, kind="span")
