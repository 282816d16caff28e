"""Recordings that revealed faults of the text readers, with the correct results."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from dctv.session import Session

TRACES = Path(os.environ["DCTV_TRACES"])
FOUND = TRACES / "found"
ROWS = [
    "SELECT tid, name, ret, failed, _duration FROM {}.syscalls.calls ORDER BY _ts, tid, line",
    "SELECT tid, state, time, spans FROM {}.scheduler.time_in_state ORDER BY tid, state",
]


def rows(session: Session, query: str) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in session.sql(query).arrow().to_pylist()]


@pytest.mark.parametrize("query", ROWS)
def test_the_text_report_of_trace_cmd_matches_its_file(query: str, tmp_path: Path) -> None:
    """F3 and F4."""
    binary = tmp_path / "trace.dat"
    binary.write_bytes(gzip.decompress((FOUND / "trace_cmd_report.dat.gz").read_bytes()))
    with Session(index=False) as session:
        session.mount(str(FOUND / "trace_cmd_report.txt.gz"), "text")
        session.mount(str(binary), "dat")
        assert rows(session, query.format("text")) == rows(session, query.format("dat"))


@pytest.mark.parametrize(
    ("name", "events", "last", "missing"),
    [
        ("trace_cmd_report.txt.gz", 71_533, 883_133_837, 0),
        ("trace_cmd_ts_diff.txt.gz", 19_999, 141_982_000, 0),
        ("perf_script_exiting_threads.txt.gz", 2936, 622_057_000, 0),
        ("perf_script_mmap_events.txt.gz", 219, 106_025_000, 0),
        ("tracefs_option_fields.trace.txt.gz", 11_988, 234_826_000, 28_810),
        ("tracefs_option_verbose.trace.txt.gz", 11_991, 255_057_000, 33_461),
    ],
)
def test_every_event_is_read(name: str, events: int, last: int, missing: int) -> None:
    """F2, F4, F8, F9, and G4: of two there is only the beginning."""
    with Session(index=False) as session:
        session.mount(str(FOUND / name), "t")
        assert rows(session, "SELECT COUNT(*), MAX(_ts) FROM t.events") == [(events, last)]
        lost = rows(session, "SELECT reason, count FROM t.diagnostics WHERE incomplete")
        assert lost == ([("event that the header counts and the file lacks", missing)] if missing else [])


def test_the_scheduler_sees_the_numbers_of_the_option_fields() -> None:
    """F8."""
    with Session(index=False) as session:
        session.mount(str(FOUND / "tracefs_option_fields.trace.txt.gz"), "t")
        states = rows(session, "SELECT DISTINCT state FROM t.scheduler.states ORDER BY state")
        assert states == [("ended",), ("runnable",), ("running",), ("sleeping",), ("uninterruptible",)]


def test_marks_of_perfetto_without_a_blank() -> None:
    """A17."""
    path = TRACES / "perfetto-diff" / "traces" / "Atrace_regex_pattern_no_gap_after_irq_flags.systrace"
    with Session(index=False) as session:
        session.mount(str(path), "t")
        assert rows(session, "SELECT name, COUNT(*) FROM t.slices GROUP BY name ORDER BY name") == [
            ("no_gap_after_dots", 1),
            ("no_gap_after_flags", 1),
            ("space_after_dots", 1),
        ]
