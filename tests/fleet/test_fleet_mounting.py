"""What fleets are made of: traces that cannot be read, manifests, tables that only some have, traces that change."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dctv.catalog.files import matching
from dctv.errors import BindError, DctvError, TraceError, UsageError
from dctv.run.fleet.members import FleetMember
from dctv.run.fleet.schemas import one_schema
from dctv.session import Session
from dctv.types.schema import ColumnType, Kind, Schema
from dctv.types.unit import NO_UNIT
from dctv.types.units import parse_unit
from tests.fleet.traces import write_fleet, write_run


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dctv.run.trace_workers.MANY", 6)
    with Session(index=False, warn=False) as made:
        yield made


def write_dftracer(path: Path, *arguments: dict[str, object]) -> None:
    lines = [
        {"id": n, "name": "read", "cat": "POSIX", "pid": 1, "tid": 1, "ts": n * 10, "dur": 5, "ph": "X", "args": args}
        for n, args in enumerate(arguments)
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def test_a_trace_that_cannot_be_read_is_told_and_left_out(session: Session, tmp_path: Path) -> None:
    write_fleet(tmp_path, 2)
    (tmp_path / "broken.json").write_text("nonsense")
    whole = (tmp_path / "run001.json").read_text()
    (tmp_path / "run001.json").write_text(whole[: len(whole) // 2])
    session.mount_traces("*.json", "runs")
    told = session.incomplete()
    assert told[0].startswith("runs: broken.json: ")
    assert [one.rpartition(": ")[2] for one in told[1:]] == [
        "file ends inside of an event",
        "file ends before its JSON does",
    ]
    traces = session.sql("SELECT _trace, format, error IS NULL AS good FROM runs.traces").fetchall()
    assert traces == [
        ("broken.json", None, False),
        ("run000.json", "chrome-json", True),
        ("run001.json", "chrome-json", True),
    ]
    skipped = session.sql("SELECT _trace, COUNT(*) AS n FROM runs.diagnostics WHERE incomplete GROUP BY 1 ORDER BY 1")
    assert skipped.fetchall() == [("broken.json", 1), ("run001.json", 2)]
    assert session.sql("SELECT DISTINCT _trace FROM runs.slices ORDER BY 1").fetchall() == [
        ("run000.json",),
        ("run001.json",),
    ]


def test_columns_that_only_some_traces_have_are_null_in_the_others(session: Session, tmp_path: Path) -> None:
    write_dftracer(tmp_path / "a.pfw", {"size": 1}, {"size": 2})
    write_dftracer(tmp_path / "b.pfw", {"offset": 7, "size": 2.5})
    write_dftracer(tmp_path / "c.pfw", {"offset": "far"})
    session.mount_traces("*.pfw", "runs")
    table = "runs." + next(one.name for one in session.tables("runs") if "raw_events" in one.name).split(".", 1)[1]
    found = session.sql(f'SELECT _trace, size, "offset" FROM {table} ORDER BY ALL'.replace('"', "`"))
    assert found.fetchall() == [("a.pfw", 1.0, None), ("a.pfw", 2.0, None), ("b.pfw", 2.5, "7"), ("c.pfw", None, "far")]
    assert session.sql(f"SELECT SUM(size) AS s FROM {table}").fetchall() == [(5.5,)]


def test_columns_without_values_are_of_the_type_that_others_have(session: Session, tmp_path: Path) -> None:
    for name, rows in {"a": "1,,x", "b": "1,9,", "c": "1,10,", "d": ""}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "sizes.csv").write_text(f"_ts,size,tag\n{rows}\n")
    session.mount_traces("*/sizes.csv", "runs")
    table = "runs.raw_events.sizes"
    assert session.sql(f"SELECT MAX(size) AS m, SUM(size) AS s, MIN(tag) AS t FROM {table}").fetchall() == [
        (10, 19, "x")
    ]
    assert session.sql(f"SELECT _trace FROM {table} WHERE size IS NULL").fetchall() == [("a/sizes.csv",)]
    (tmp_path / "d" / "sizes.csv").write_text("_ts,size,tag\n1,many,\n")
    session.sql("DROP ALL runs")
    session.mount_traces("*/sizes.csv", "runs")
    assert session.sql(f"SELECT list(size ORDER BY _trace) AS l FROM {table}").fetchall() == [
        ([None, "9", "10", "many"],)
    ]


@pytest.mark.parametrize("index", ["auto", True])
def test_columns_of_parquet_have_their_own_types(tmp_path: Path, index: Any) -> None:
    """They were texts, so that 9.50 was more than 100.00."""
    given: dict[str, list[str | None]] = {"a": ["9.50", "10.25"], "b": ["100.00", None]}
    for name, costs in given.items():
        days = [date(2026, 12, day) for day in (2, 10)]
        values = pa.array([None if one is None else Decimal(one) for one in costs], pa.decimal128(10, 2))
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"cost": values, "day": days, "l": [[9], [10]]}), tmp_path / name / "data.parquet")
    with Session(index=index, index_dir=tmp_path / "indexes") as session:
        session.mount_traces(f"{tmp_path}/*/data.parquet", "runs")
        found = session.sql("SELECT MAX(cost), SUM(cost), MAX(day) > DATE '2026-12-09', MAX(l) FROM runs.data")
        assert found.fetchall() == [(Decimal("100.00"), Decimal("119.75"), True, [10])]
        found = session.sql("SELECT cost::STRING FROM runs.data ORDER BY cost DESC NULLS LAST")
        assert found.fetchall() == [("100.00",), ("10.25",), ("9.50",), (None,)]


def test_tables_of_several_formats(session: Session, tmp_path: Path) -> None:
    write_dftracer(tmp_path / "a.pfw", {"size": 1})
    write_run(tmp_path / "b.json", 1, slices=3)
    session.mount_traces("*", "runs")
    found = session.sql("SELECT _trace, name, COUNT(*) AS n FROM runs.events GROUP BY ALL ORDER BY ALL").fetchall()
    assert found[0] == ("a.pfw", "read", 1)
    assert sum(n for trace, _, n in found if trace == "b.json") == 3
    assert session.sql("SELECT COUNT(*) AS n FROM runs.raw_events.complete").fetchall() == [(3,)]
    with pytest.raises(BindError) as caught:
        session.sql("SELECT * FROM runs.slicez")
    assert caught.value.message == "unknown table `runs.slicez`"


@pytest.mark.parametrize(
    ("text", "error", "told"),
    [
        ("MOUNT TRACES 'none*' AS x", TraceError, "found no trace that matches `none*`"),
        ("MOUNT TRACES 'n*.bin' AS x", TraceError, "no trace of `n*.bin` can be read; the first, no.bin: "),
        ("MOUNT TRACES '*.json' AS x WITH (align => 1s)", UsageError, "MOUNT TRACES has no option `align`"),
        ("MOUNT TRACES '*.json' AS x WITH (manifest => 'no.csv')", TraceError, "cannot read `no.csv`"),
        (
            "MOUNT TRACES '*.json' AS x WITH (manifest => 'bad.csv')",
            TraceError,
            "`bad.csv` has no column that names traces",
        ),
        (
            "MOUNT TRACES '*.json' AS x WITH (manifest => 'two.csv')",
            TraceError,
            "`two.csv` has two rows of `run000.json`",
        ),
        ("MOUNT TRACES '*.json' AS dctv", BindError, "the name `dctv` belongs to dctv's own functions"),
    ],
)
def test_errors(session: Session, tmp_path: Path, text: str, error: type[DctvError], told: str) -> None:
    write_fleet(tmp_path, 2)
    (tmp_path / "no.bin").write_bytes(b"\0\1")
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    (tmp_path / "two.csv").write_text("trace,b\nrun000.json,2\nrun000.json,3\n")
    with pytest.raises(error) as caught:
        session.sql(text)
    assert caught.value.message.startswith(told)


def test_schemas_of_traces_are_brought_together() -> None:
    def schema(*columns: tuple[str, str, str]) -> Schema:
        return Schema(Kind.REGULAR, tuple(ColumnType(n, t, parse_unit(u) if u else NO_UNIT) for n, t, u in columns))

    a, b = FleetMember("a", "/a", {}), FleetMember("b", "/b", {})
    found = one_schema(
        "runs",
        "t",
        [(a, schema(("x", "INTEGER", ""), ("y", "BIGINT", "ns"))), (b, schema(("x", "DOUBLE", ""), ("z", "JSON", "")))],
    )
    assert [(c.name, c.type, str(c.unit)) for c in found.columns] == [
        ("x", "DOUBLE", ""),
        ("y", "BIGINT", "ns"),
        ("z", "JSON", ""),
    ]
    with pytest.raises(BindError) as caught:
        one_schema("runs", "t", [(a, schema(("x", "BIGINT", "ns"))), (b, schema(("x", "BIGINT", "B")))])
    assert caught.value.message == "the unit of `t.x` is `ns` in `a` and `B` in `b`"
    with pytest.raises(BindError) as caught:
        one_schema("runs", "t", [(a, schema(("x", "BIGINT", ""))), (b, schema(("x", "BIGINT[]", "")))])
    assert caught.value.message == "the type of `t.x` is BIGINT in `a` and BIGINT[] in `b`"
    with pytest.raises(BindError) as caught:
        one_schema(
            "runs",
            "t",
            [
                (a, schema(("x", "BIGINT", ""))),
                (b, Schema(Kind.EVENT, (ColumnType("_ts", "BIGINT", parse_unit("ns")),))),
            ],
        )
    assert caught.value.message == "`runs.t` is a regular table in `a` and an unpartitioned event table in `b`"


def test_what_was_dropped_is_told_no_more(session: Session, tmp_path: Path) -> None:
    write_fleet(tmp_path, 2)
    (tmp_path / "broken.json").write_text("nonsense")
    session.mount_traces("*.json", "runs")
    assert session.sql("SELECT COUNT(*) AS n FROM runs.slices").fetchall() == [(120,)]
    assert session.sql("SHOW MOUNTS").fetchall() == [("runs", "2 traces", "*.json")]
    assert len(session.incomplete()) == 1
    session.sql("DROP ALL runs")
    assert session.sql("SHOW MOUNTS").fetchall() == []
    assert session.incomplete() == []


def test_a_name_is_taken_until_it_is_dropped(session: Session, tmp_path: Path) -> None:
    write_fleet(tmp_path, 2)
    session.mount_traces("*.json", "runs")
    with pytest.raises(BindError, match="the name `runs` is taken"):
        session.mount_traces("*.json", "runs")
    session.sql("DROP ALL runs")
    session.mount_traces("*.json", "runs")
    assert session.sql("SELECT COUNT(*) AS n FROM runs.traces").fetchall() == [(2,)]


def test_a_manifest_with_rows_of_traces_that_are_not_there(session: Session, tmp_path: Path) -> None:
    write_fleet(tmp_path, 3)
    (tmp_path / "run002.json").unlink()
    session.mount_traces("*.json", "runs", manifest="runs.csv")
    assert session.warnings() == ["`runs.csv` has rows of traces that are not there: run002.json"]


def test_a_manifest_in_parquet(session: Session, tmp_path: Path) -> None:
    write_fleet(tmp_path, 3)
    told = {"file": ["run002.json"], "build": [7], "weight": [1.5], "good": [True]}
    pq.write_table(pa.table(told), "m.parquet")
    session.mount_traces("*.json", "runs", manifest="m.parquet")
    found = session.sql("SELECT build, weight, good, COUNT(*) AS n FROM runs.slices WHERE good GROUP BY ALL").fetchall()
    assert found == [(7, 1.5, True, 60)]


def described(session: Session, manifest: str) -> list[tuple[Any, ...]]:
    """Mount all traces with a manifest, and return what it says of each."""
    session.mount_traces("*", "runs", manifest=manifest)
    rows = session.sql("SELECT _trace, * EXCLUDE (_trace, format, start, length, error) FROM runs.traces ORDER BY 1")
    return rows.fetchall()


def test_names_of_traces_in_a_manifest_are_texts(session: Session, tmp_path: Path) -> None:
    for name in ("007", "1e3", "true"):
        write_run(tmp_path / name, 1, slices=1)
    Path("../names.csv").write_text("trace,build\n007,1\n1e3,2\n,\n")
    assert described(session, "../names.csv") == [("007", 1), ("1e3", 2), ("true", None)]
    session.sql("DROP ALL runs")
    Path("../names.csv").write_text("trace,build\ntrue,3\n")
    assert described(session, "../names.csv")[2] == ("true", 3)


def test_empty_fields_of_a_manifest_are_null(session: Session, tmp_path: Path) -> None:
    write_fleet(tmp_path / "a", 1)
    write_fleet(tmp_path / "b", 1)
    Path("a/runs.csv").write_text('trace,label,build\na/run000.json,,""\nrun000.json,"of\nall",2\n')
    session.mount_traces("*/*.json", "runs", manifest="a/runs.csv")
    found = session.sql("SELECT _trace, label, build FROM runs.traces ORDER BY 1").fetchall()
    # The row of a path counts for it, even if it says nothing.
    assert found == [("a/run000.json", None, None), ("b/run000.json", "of\nall", 2)]
    asked = "SELECT COUNT(*) AS n FROM runs.slices WHERE label IS NULL"
    assert session.sql(asked).fetchall() == [(60,)]


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("18446744073709551615", "18446744073709551614", "UBIGINT"),
        ("18446744073709551615", "", "UBIGINT"),
        ("18446744073709551617", "18446744073709551616", "VARCHAR"),
        ("9223372036854775808", "-1", "VARCHAR"),
        ("9223372036854775808", "1.5", "DOUBLE"),
    ],
)
def test_large_numbers_of_a_manifest_are_exact(
    session: Session, tmp_path: Path, first: str, second: str, found: str
) -> None:
    write_fleet(tmp_path, 2)
    Path("ids.csv").write_text(f"trace,id,n\nrun000.json,{first},1\nrun001.json,{second},\n")
    session.mount_traces("*.json", "runs", manifest="ids.csv")
    sql = "SELECT typeof(id), id::STRING, n FROM runs.traces ORDER BY _trace"
    texts = (str(float(first)), str(float(second))) if found == "DOUBLE" else (first, second)
    assert session.sql(sql).fetchall() == [(found, texts[0], 1), (found, texts[1] or None, None)]


def test_tables_are_listed_though_traces_differ_in_one(session: Session, tmp_path: Path) -> None:
    data = Path(__file__).parents[1] / "data"
    for one in (data / "stdlib" / "calls.pfw", *(data / "dftracer" / "loader").glob("trace-9553*.gz")):
        shutil.copy(one, tmp_path)
    session.mount_traces("*", "runs")
    with pytest.raises(BindError, match=r"the unit of `raw_events\.read\.count` is"):
        session.sql("SELECT * FROM runs.raw_events.read")
    kinds = {name: kind for name, kind, _ in session.sql("SHOW TABLES FROM runs").fetchall()}
    assert (kinds["runs.raw_events.read"], kinds["runs.events"]) == ("table", "event")


def test_names_such_as_null_in_a_manifest_are_texts(session: Session, tmp_path: Path) -> None:
    write_fleet(tmp_path, 2)
    Path("runs.csv").write_text("trace,label,build,ratio\nrun000.json,null,NA,nan\nrun001.json,N/A,7,0.5\n")
    session.mount_traces("*.json", "runs", manifest="runs.csv")
    found = session.sql("SELECT label, build, ratio FROM runs.traces ORDER BY _trace").fetchall()
    assert repr(found) == "[('null', 'NA', nan), ('N/A', '7', 0.5)]"


def test_a_manifest_that_is_not_utf_8(session: Session, tmp_path: Path) -> None:
    write_fleet(tmp_path, 1)
    Path("runs.csv").write_bytes("trace,label\nrun000.json,café\n".encode("latin-1"))
    with pytest.raises(TraceError, match=r"^error: column `label` of `runs.csv` is not UTF-8\nhint: save the manifest"):
        session.mount_traces("*.json", "runs", manifest="runs.csv")


def test_a_manifest_names_the_ends_of_paths(session: Session, tmp_path: Path) -> None:
    for folder in ("a", "b", "b/c"):
        write_fleet(tmp_path / folder, 1)
    rows = ["run000.json,1", "./b/run000.json,2", f"{tmp_path}/b/c/run000.json,3", "x/run000.json,4"]
    Path("../all.csv").write_text("\n".join(["trace,build", *rows, ""]))
    # A warm session mounts absolute paths, as it has no folder.
    for pattern in ("**/*.json", f"{tmp_path}/**/*.json"):
        session.mount_traces(pattern, "runs", manifest="../all.csv")
        assert session.warnings() == ["`../all.csv` has rows of traces that are not there: x/run000.json"]
        assert session.sql("SELECT build FROM runs.traces ORDER BY _trace").fetchall() == [(1,), (3,), (2,)]
        session.sql("DROP ALL runs")


def test_types_of_a_manifest(session: Session, tmp_path: Path) -> None:
    write_fleet(tmp_path, 2)
    Path("runs.csv").rename("../runs.csv")
    at = 1767225600_123456789
    table = {
        "trace": pa.array(["run000.json", "run001.json"]).dictionary_encode(),
        "ns": pa.array([at, None], pa.timestamp("ns")),
        "zoned": pa.array([at // 1000, None], pa.timestamp("us", "Europe/Berlin")),
        "large": pa.array([2**63, 1], pa.uint64()),
        "kind": pa.array(["b", "a"]).dictionary_encode(),
    }
    pq.write_table(pa.table(table), "../m.parquet")
    assert described(session, "../m.parquet") == [
        ("run000.json", "2026-01-01 00:00:00.123456789", "2026-01-01 00:00:00.123456+00", 2**63, "b"),
        ("run001.json", None, None, 1, "a"),
    ]
    for test in (
        "ns > TIMESTAMP_NS '2026-01-01 00:00:00.123456788'",
        "zoned = TIMESTAMPTZ '2026-01-01 01:00:00.123456+01'",
        "large > 9223372036854775807",
        "ns IS NOT NULL AND kind = 'b'",
    ):
        found = session.sql(f"SELECT _trace, COUNT(*) AS n FROM runs.slices WHERE {test} GROUP BY 1").fetchall()
        assert found == [("run000.json", 60)], test


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("trace,build\n,2\n", "has a row without the name of a trace"),
        ("trace,_TS\nrun000.json,2\n", "has a column `_TS`, which tables have for the times of rows"),
    ],
)
def test_manifests_that_mean_nothing(session: Session, tmp_path: Path, text: str, told: str) -> None:
    write_fleet(tmp_path, 1)
    Path("runs.csv").write_text(text)
    with pytest.raises(TraceError, match=told):
        session.mount_traces("*.json", "runs", manifest="runs.csv")


@pytest.mark.parametrize("change", ["grown", "gone"])
def test_a_trace_that_changes_is_not_read(session: Session, tmp_path: Path, change: str) -> None:
    write_fleet(tmp_path, 2)
    session.mount_traces("*.json", "runs")
    if change == "gone":
        (tmp_path / "run001.json").unlink()
    else:
        write_run(tmp_path / "run001.json", 1, slices=70)
    told = "cannot read it: no such file or directory" if change == "gone" else "it has changed since it was mounted"
    with pytest.raises(TraceError) as caught:
        session.sql("SELECT COUNT(*) FROM runs.slices").fetchall()
    assert caught.value.message == f"run001.json: {told}"
    assert session.sql("SELECT COUNT(*) AS n FROM runs.slices WHERE _trace = 'run000.json'").fetchall() == [(60,)]


@pytest.mark.parametrize("many", [6, 1000])
def test_a_view_that_is_empty_in_some_traces_is_told_of_each(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr("dctv.run.trace_workers.MANY", many)
    write_fleet(tmp_path, 3)
    moment = {"ph": "i", "name": "a", "pid": 1, "tid": 1, "ts": 1, "s": "t"}
    for number in range(5):
        (tmp_path / f"without{number}.json").write_text(json.dumps({"traceEvents": [moment]}))
    session.mount_traces("*.json", "runs")
    result = session.sql("SELECT COUNT(*) AS n FROM runs.slices")
    assert result.fetchall() == [(180,)]
    ((text, count),) = result.warnings
    assert text.startswith("runs: without0.json, without1.json, without2.json and 2 more: `runs.slices` is empty: ")
    assert count == 5


def test_what_fails_in_a_trace_says_in_which(session: Session, tmp_path: Path) -> None:
    for count in (2, 6):
        write_fleet(tmp_path / str(count), count)
        session.mount_traces(tmp_path / str(count) / "*.json", f"runs{count}")
        with pytest.raises(DctvError) as caught:
            session.sql(f"SELECT CAST(name AS INT) AS i FROM runs{count}.slices").fetchall()
        assert "run000.json: could not convert string" in caught.value.message
        assert "Traceback" not in str(caught.value)


def test_a_killed_worker_is_an_error_and_the_next_query_runs(session: Session, tmp_path: Path) -> None:
    write_fleet(tmp_path, 6)
    session.mount_traces("*.json", "runs")
    pool = session._context.workers.pool
    assert pool is not None
    for process in active_children():
        process.kill()
    with pytest.raises(TraceError, match="a process that read a trace of a fleet was killed"):
        session.sql("SELECT COUNT(*) FROM runs.slices").fetchall()
    assert session.sql("SELECT COUNT(*) AS n FROM runs.slices").fetchall() == [(360,)]


def test_the_cost_of_a_query_includes_its_workers(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_fleet(tmp_path, 6)
    session.mount_traces("*.json", "runs")
    query = "EXPLAIN ANALYZE SELECT name, COUNT(*) AS n FROM runs.slices GROUP BY name"

    def costs() -> tuple[float, float]:
        text = "\n".join(line for (line,) in session.sql(query).fetchall())
        engine, total = re.search(r"([\d.]+) s CPU", text), re.search(r"total: [\d.]+ s, ([\d.]+) s CPU", text)
        assert engine is not None
        assert total is not None
        return float(engine[1]), float(total[1])

    engine, total = costs()
    # Its threads wait for the workers, and for each other; both numbers are rounded.
    assert engine <= total + 0.01
    monkeypatch.setattr("dctv.run.explaining.process_time", lambda: 0.0)
    assert costs()[1] > 0


def test_no_room_for_the_rows_of_a_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_fleet(tmp_path, 6)
    monkeypatch.setattr("dctv.run.trace_workers.MANY", 6)
    full = tmp_path / "full"
    with Session(index=False, temp_directory=full) as session:
        session.mount_traces(tmp_path / "*.json", "runs")
        monkeypatch.setattr("dctv.run.fleet.fleet.mkdtemp", lambda **_: str(full / "no folder"))
        with pytest.raises(DctvError) as caught:
            session.sql("SELECT * FROM runs.slices").fetchall()
        assert not list(full.rglob("*.arrows"))
    assert "run000.json: cannot keep its rows in" in caught.value.message
    assert caught.value.hint is not None
    assert "--temp-directory" in caught.value.hint


def test_an_interrupt_ends_the_work(session: Session, tmp_path: Path) -> None:
    write_fleet(tmp_path, 6)
    session.mount_traces("*.json", "runs")
    rows = session.sql("SELECT * FROM runs.slices").batches()
    session.interrupt()
    with pytest.raises(DctvError, match="interrupted"):
        list(rows)
    assert session.sql("SELECT COUNT(*) AS n FROM runs.slices").fetchall() == [(360,)]


def test_patterns_are_those_of_a_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("b.json", "a.json", ".hidden.json"):
        (tmp_path / name).touch()
    assert matching("*.json") == ["a.json", "b.json"]
    assert matching(".*.json") == [".hidden.json"]
    assert matching(str(tmp_path / "?.json")) == [str(tmp_path / "a.json"), str(tmp_path / "b.json")]
    assert matching("*.json", tmp_path.parent) == []


@pytest.mark.parametrize(
    ("trace", "view"),
    [
        ("stdlib/browser.json", "tracks"),
        ("stdlib/memory.pftrace", "tracks"),
        ("perfetto/linux_sys_deflate.pftrace", "cpus"),
    ],
)
def test_a_view_with_the_name_of_a_table_that_it_reads(trace: str, view: str) -> None:
    path = Path(__file__).resolve().parents[1] / "data" / trace
    with Session(index=False) as session:
        session.mount(str(path), "t")
        session.mount_traces(str(path), "runs")
        alone = session.sql(f"SELECT * FROM t.{view} ORDER BY ALL").fetchall()
        assert alone
        assert session.sql(f"SELECT * EXCLUDE (_trace) FROM runs.{view} ORDER BY ALL").fetchall() == alone
