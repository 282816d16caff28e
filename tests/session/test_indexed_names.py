"""Names of events, which some formats keep in a column, are the same with an index and without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dctv import readers
from dctv.contracts.reader import Reader
from dctv.contracts.registry import scan
from dctv.index.database import ALWAYS
from dctv.index.request import IndexRequest
from dctv.session import Session
from tests.command_line import ROOT, run

TRACES = (
    "dftracer/loader",
    "ftrace/live_marks_tgid.trace.txt",
    "perf/cpuclock.collapsed.txt",
    "perf/cpuclock.data",
    "stdlib/flows.json",
    "stdlib/memory.pftrace",
    "stdlib/requests.jaeger.json",
    "trace_dat/live_marks.dat",
    "uftrace/switches",
    "v8/fib.cpuprofile",
    "v8/grow.heapprofile",
)
MOST = 12
"""Names and tables of a trace that are tried."""


@pytest.fixture(scope="module", params=TRACES)
def trace(request: pytest.FixtureRequest) -> Path:
    name: str = request.param
    return ROOT / "tests" / "data" / name


@pytest.fixture(scope="module")
def sessions(trace: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Session, Session]]:
    """Sessions that read the trace whole, and by its index."""
    with Session(index=False) as whole, Session(index_dir=tmp_path_factory.mktemp("indexes")) as by_index:
        by_index.index(str(trace), IndexRequest())
        for session in (whole, by_index):
            session.mount(str(trace), "t")
        yield whole, by_index


def same(sessions: tuple[Session, Session], query: str, *parameters: object) -> list[Any]:
    """Return the rows of a query, which are the same in both sessions."""
    whole, by_index = (session.sql(query, parameters).fetchall() for session in sessions)
    assert by_index == whole, query
    return whole


def test_events_have_their_own_names(sessions: tuple[Session, Session]) -> None:
    names = same(sessions, "SELECT name, COUNT(*) AS n FROM t.events GROUP BY name ORDER BY n DESC, name")
    assert names
    for name, number in names[:MOST]:
        [(count,)] = same(sessions, "SELECT COUNT(*) FROM t.events WHERE name <=> ?", name)
        assert count == number
        same(sessions, "SELECT COUNT(*), MIN(_ts) FROM t.events WHERE name >= ?", name)
        same(sessions, "SELECT COUNT(*) FROM t.events WHERE name IN (?, 'x') AND pid > 0", name)


def test_raw_tables_keep_their_names(sessions: tuple[Session, Session]) -> None:
    tables = [name for name, *_ in sessions[0].sql("SHOW TABLES FROM t.raw_events").fetchall()]
    assert tables
    for table in tables[:MOST]:
        columns = [name for name, *_ in sessions[0].sql(f"DESCRIBE {table}").fetchall()]
        for column in {"name", "event"} & set(columns):
            values = same(sessions, f"SELECT `{column}`, COUNT(*) AS n FROM {table} GROUP BY ALL ORDER BY ALL")
            for value, number in values[:MOST]:
                assert same(sessions, f"SELECT COUNT(*) FROM {table} WHERE `{column}` <=> ?", value) == [(number,)]


def test_summaries_have_the_names_of_events(trace: Path, tmp_path: Path) -> None:
    words = ("stats", trace, "--section", "names", "--format", "csv")
    whole = run(*words, "--no-index")
    run("index", trace, "--index-dir", tmp_path)
    by_index = run(*words, "--index-dir", tmp_path)

    def counts(out: str) -> list[str]:
        """Leave out quantiles, which an index estimates."""
        return [",".join(line.split(",")[:7]) for line in out.splitlines()]

    assert (whole.code, whole.err) == (by_index.code, by_index.err)
    assert counts(by_index.out)[1:] == counts(whole.out)[1:]
    assert len(whole.out.splitlines()) > 1


def test_no_format_declares_dimensions_that_every_index_has() -> None:
    declared = {name: one.chunks.dimensions for name, one in scan(readers, Reader).items() if one.chunks is not None}
    assert len(declared) > 10
    assert {name for name, dimensions in declared.items() if not dimensions.keys().isdisjoint(ALWAYS)} == set()


def test_a_trace_has_more_kinds_of_events_than_the_engine_nests(tmp_path: Path) -> None:
    kinds = 1020
    trace = tmp_path / "kinds.txt"
    rows = (f"  p-{1 + n % 3} [000] .... 1.{n:06}: kind_{n}: a={n}\n" for n in range(kinds))
    trace.write_text("".join(rows), encoding="utf-8")
    with Session(index_dir=tmp_path / "indexes") as session:
        session.index(str(trace), IndexRequest())
        session.mount(str(trace), "t")
        assert session.sql("SELECT tid, name FROM t.threads ORDER BY tid").fetchall() == [(1, "p"), (2, "p"), (3, "p")]
