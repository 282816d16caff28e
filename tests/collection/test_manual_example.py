"""The manual's worked example, as it stands there, against a plain computation from the trace's lines."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from dctv.session import Session
from tests.collection.ftrace_lines import FTRACE, read_lines

TRACE = FTRACE / "catapult_android_systrace.html"
EXAMPLE = """WITH frames AS (SELECT SPAN * FROM dctv.time_series_to_spans(
sources=>[{source=>(SELECT * FROM trace.raw_events.`print|B` W
HERE name='eglBeginFrame'),
timestamp=>'ts'}],
columns=>[])),
bad_frames AS (SELECT SPAN * FROM frames WHERE _duration > 17ms),
bad_timeslices AS (SELECT SPAN * FROM trace.scheduler.timeslices_p_cpu
SPAN BROADCAST FROM bad_frames)
SELECT comm, cpu, SUM(_duration) AS totdur FROM bad_timeslices
WHERE pid != 0
GROUP BY comm, cpu
ORDER BY totdur DESC
LIMIT 20
"""
QUERY = EXAMPLE.replace(" W\nHERE ", "\nWHERE ")
"""A typographic line break in the manual falls into a word."""


def expected() -> list[tuple[str, int, int]]:
    lines = read_lines(TRACE)
    begins = sorted(
        {line.ts for line in lines if line.body.startswith("B|") and line.body.split("|", 2)[2] == "eglBeginFrame"}
    )
    bad = [(start, end) for start, end in pairwise(begins) if end - start > 17_000_000]
    assert bad
    total: Counter[tuple[str, int]] = Counter()
    open_: dict[int, tuple[int, str, str]] = {}
    for line in lines:
        if line.event != "sched_switch":
            continue
        since, comm, pid = open_.get(line.cpu, (line.ts, "", "0"))
        if pid != "0":
            for start, end in bad:
                total[comm, line.cpu] += max(0, min(end, line.ts) - max(start, since))
        fields = line.switch
        open_[line.cpu] = (line.ts, fields["next_comm"], fields["next_pid"])
    rows = [(comm, cpu, time) for (comm, cpu), time in total.items() if time > 0]
    return sorted(rows, key=lambda row: (-row[2], row[:2]))


def test_worked_example() -> None:
    rows = expected()
    with Session() as session:
        session.mount(str(TRACE), "trace")
        found = session.sql(QUERY).fetchall()
    assert len(found) == 20
    assert [row[2] for row in found] == [row[2] for row in rows[:20]]
    # Rows of equal time are in no promised order, and the last of them may be any.
    assert set(found) <= set(rows)
