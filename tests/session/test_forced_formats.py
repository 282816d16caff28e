"""Mounts with a forced format, and ATTACH, which mounts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dctv import Session
from dctv.errors import BindError, TraceError, UsageError
from tests.command_line import ROOT

CALLS = ROOT / "tests/data/stdlib/calls.pfw"
TEXT = ROOT / "tests/data/ftrace/live_marks_tgid.trace.txt"


@pytest.fixture
def session() -> Iterator[Session]:
    with Session(index=False, warn=False) as session:
        yield session


def format_of(session: Session, name: str) -> str:
    return next(one.format for one in session.mounts() if one.name == name)


def test_attach_mounts(session: Session) -> None:
    session.sql(f"ATTACH '{CALLS}' AS c; MOUNT TRACE '{CALLS}' AS m")
    assert [(one.name, one.format) for one in session.mounts()] == [("c", "dftracer"), ("m", "dftracer")]
    counts = "SELECT COUNT(*) FROM {}.events"
    assert session.sql(counts.format("c")).fetchall() == session.sql(counts.format("m")).fetchall()
    with pytest.raises(BindError, match="the name `c` is taken"):
        session.sql(f"ATTACH '{CALLS}' AS c")


@pytest.mark.parametrize("told", ["dftracer", "pfw", ".pfw", "PFW", "DFTracer"])
def test_a_format_is_forced_by_name_or_suffix(session: Session, told: str) -> None:
    session.sql(f"ATTACH '{CALLS}' AS c WITH (format => '{told}')")
    session.mount(CALLS, "untold")
    assert format_of(session, "c") == "dftracer"
    events = "SELECT * FROM {}.events"
    assert session.sql(events.format("c")).fetchall() == session.sql(events.format("untold")).fetchall()


def test_a_forced_format_ignores_the_content(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_text('{"ts": 1, "what": "a"}\n{"ts": 2, "what": "b"}\n')
    session.mount(path, "rows", format="json-lines")
    assert format_of(session, "rows") == "json-lines"
    assert session.sql("SELECT what FROM rows.rows").fetchall() == [("a",), ("b",)]


def test_options_of_the_format_go_with_it(session: Session, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("at,n\n5,1\n7,2\n")
    session.sql(f"ATTACH '{tmp_path}/x.csv' AS c WITH (format => 'csv', timestamp => 'at', unit => 'us', align => 1ms)")
    assert session.sql("SELECT _ts, n FROM c.raw_events.x").fetchall() == [(1_000_000, 1), (1_002_000, 2)]
    with pytest.raises(UsageError, match="`csv` has no option `nope`"):
        session.mount(tmp_path / "x.csv", "d", format="csv", nope=1)


@pytest.mark.parametrize(
    ("path", "told", "message", "hint"),
    [
        (CALLS, "pwf", "unknown format `pwf`", "did you mean `pfw`?"),
        (CALLS, "nothing like it", "unknown format `nothing like it`", "known formats: arrow"),
        (ROOT / "tests/none", "csv", "no such file or folder: `", ""),
        (TEXT, "parquet", "cannot read `", ""),
    ],
)
def test_errors_have_their_places(session: Session, path: Path, told: str, message: str, hint: str) -> None:
    with pytest.raises(TraceError) as caught:
        session.sql(f"ATTACH '{path}' AS t WITH (format => '{told}')")
    assert caught.value.message.startswith(message)
    assert (caught.value.hint or "").startswith(hint)
    assert caught.value.place is not None
    assert caught.value.place.text == f"'{path}'"
    assert session.mounts() == []


@pytest.mark.parametrize(
    "path", [CALLS, TEXT, ROOT / "tests/data/v8/fib.cpuprofile", ROOT / "tests/data/perf/cpuclock.data"]
)
def test_every_forced_format_survives_foreign_content(session: Session, path: Path) -> None:
    """With an error or as nothing, never in another way."""
    for name in session._context.registries.readers:
        try:
            session.mount(path, "t", format=name)
        except TraceError:
            continue
        session.sql("DROP ALL t")
