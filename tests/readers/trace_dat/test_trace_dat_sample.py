"""A buffer of a real kernel, saved by trace-cmd (other formats and symbols left out), agrees with its text."""

from __future__ import annotations

from pathlib import Path

from dctv.contracts.reader import LoadContext
from dctv.readers import ftrace_text
from dctv.session import Session
from tests.readers.trace_dat.trace_dat_agreement import agree
from tests.readers.trace_dat.trace_dat_writing import load

DATA = Path(__file__).resolve().parents[2] / "data"
BINARY = DATA / "trace_dat" / "live_marks.dat"
TEXT = DATA / "ftrace" / "live_marks.trace.txt.gz"


def test_tables_agree_with_the_text() -> None:
    text = ftrace_text.READER.load([TEXT], LoadContext({}, 2, lambda _done, _total: None))
    trace = load(BINARY)
    assert trace.diagnostics == []
    assert agree(trace, text) > 30_000


def test_views_agree_with_those_of_the_text(tmp_path: Path) -> None:
    questions = (
        "SELECT name, depth, COUNT(*) FROM {}.slices GROUP BY name, depth ORDER BY name, depth",
        "SELECT name, COUNT(*) FROM {}.async_slices GROUP BY name ORDER BY name",
        "SELECT tid, COUNT(*) FROM {}.scheduler.wakeups GROUP BY tid ORDER BY tid",
        "SELECT vec, action, COUNT(*) FROM {}.raw_events.softirq_entry GROUP BY vec, action ORDER BY vec",
    )
    with Session(index=True, index_dir=tmp_path) as session:
        session.mount(str(BINARY), "d")
        session.mount(str(TEXT), "f")
        for question in questions:
            found = [session.sql(question.format(mount)).fetchall() for mount in ("d", "f")]
            assert found[0] == found[1], question
            assert found[0], question
