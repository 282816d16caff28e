"""Timelines of traces of all formats: every row of their views at any distance, slices as deep as Perfetto has them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from dctv.errors import DctvError
from dctv.session import Session
from tests.collection.ftrace_lines import COLLECTION
from tests.timeline.agreement import faults

LARGEST = 2 << 20
"""Bytes of a file that is read here."""
FOLDERS = ("chrome-json", "ctf", "dftracer", "found", "ftrace-text", "perf", "perfetto", "trace-cmd", "uftrace")
LAST = 2**63 - 1


def _traces() -> list[Path]:
    """Return some of the traces in each folder; most of what is special about a trace is so of several."""
    found = []
    for folder in FOLDERS:
        paths = [path for path in sorted((COLLECTION / folder).rglob("*")) if path.is_file()]
        traces = [path for path in paths if not {"truth", "truth_tp", "src"} & set(path.parts)]
        small = [path for path in traces if path.stat().st_size <= LARGEST]
        found += small[:: max(1, min(9, len(small) // 10))]
    return found


@pytest.mark.parametrize("path", _traces(), ids=lambda path: str(path.relative_to(COLLECTION)))
def test_no_row_is_lost(path: Path) -> None:
    with Session() as session:
        try:
            session.mount(str(path), "t")
        except DctvError:
            return
        assert not list(faults(session, "t"))


def _depths() -> dict[str, dict[int, tuple[int, int]]]:
    """Read how many slices Perfetto's trace_processor has at each depth, and how long all of them last."""
    found: dict[str, dict[int, tuple[int, int]]] = {}
    for line in Path(__file__).with_name("slices_by_depth.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            trace, depth, count, total = line.split("\t")
            found.setdefault(trace, {})[int(depth)] = (int(count), int(total))
    return found


DEPTHS = _depths()
MOVED = (
    "chrome-json/lighthouse/blocking-time_trace.json.gz",
    "chrome-json/lighthouse/timespan-responsiveness-m103.trace.json",
    "ftrace-text/catapult_decompressed_atrace.txt",
    "ftrace-text/live_marks.trace.txt",
    "ftrace-text/live_marks_tgid.trace.txt",
    "perfetto/live/linux_sys_deflate.pftrace",
    "perfetto/live/linux_sys_marks.pftrace",
)
"""Traces in which slices of other tracks of the same name, some of them without an end, take the lanes of others."""


@pytest.mark.parametrize("trace", [one for one in DEPTHS if one not in MOVED])
def test_slices_are_as_deep_as_those_of_perfetto(trace: str) -> None:
    with Session() as session:
        session.mount(str(COLLECTION / trace), "t")
        timeline = session.timeline("t")
        own = [one.id for one in timeline.tracks if one.source in ("t.timeline.slices", "t.timeline.async_slices")]
        cells = timeline.cells(own, -LAST, LAST, 1)
        count: Counter[int] = Counter()
        total: Counter[int] = Counter()
        endless = Counter(
            session.sql(
                "SELECT name, _ts FROM t.slices WHERE _duration IS NULL"
                " UNION ALL SELECT name, _ts FROM t.async_slices WHERE _duration IS NULL"
            ).fetchall()
        )
        for cell in cells.select(["lane", "_duration", "name", "_ts"]).to_pylist():
            lane, length, began = cell["lane"], cell["_duration"], (cell["name"], cell["_ts"])
            if endless[began] and cell["_ts"] + length == timeline.end:
                # Perfetto tells no length of what nothing ends.
                endless[began] -= 1
            elif length:
                count[lane] += 1
                total[lane] += length
        assert {lane: (count[lane], total[lane]) for lane in count} == DEPTHS[trace]


@pytest.mark.parametrize("trace", DEPTHS)
def test_views_have_slices_as_deep_as_those_of_perfetto(trace: str) -> None:
    with Session() as session:
        session.mount(str(COLLECTION / trace), "t")
        found = session.sql(
            "SELECT depth, COUNT(*), UNITLESS(SUM(_duration)) FROM (SELECT depth, _duration FROM t.slices UNION ALL"
            " SELECT depth, _duration FROM t.async_slices) WHERE _duration > 0ns GROUP BY depth"
        ).fetchall()
        assert {depth: (count, total) for depth, count, total in found} == DEPTHS[trace]


BELOW = {
    "TrackEvent_track_event_tracks_ordering": {
        "parent": "child_1, child_2, async, async2, child_3",
        "child_2": "async3",
    },
    "Viz_all_tracks_ordered_all_ordering": {
        "Root Chronological": "A, B",
        "Root Explicit": "A, B, C",
        "Root Lexicographic": "A, B, C",
    },
    "Viz_sanity_ordering": {
        "explicit_parent": "explicit_child:no z-index, explicit_child:5 z-index, explicit_child:-5 z-index",
        "chronological_parent": "chrono, chrono1, chrono2",
        "lexicographic_parent": "event_for_unnamed_child, a, b, ab",
    },
}
"""Tracks by their parents, as Perfetto's trace_processor v52.0 tells: track.parent_id."""


@pytest.mark.parametrize("trace", BELOW)
def test_track_parents_match_perfetto(trace: str) -> None:
    with Session() as session:
        session.mount(str(COLLECTION / "perfetto-diff" / "traces" / f"{trace}.pftrace"), "t")
        timeline = session.timeline("t")
        paths = [timeline.path(one.id) for one in timeline.tracks if one.rows]
        tracks = {path[:-1] if path[-1] == "Instants" else path for path in paths if path[0] == "Tracks"}
        below = {(path[-2], path[-1]) for path in tracks if len(path) > 2}
        assert below == {(above, name) for above, names in BELOW[trace].items() for name in names.split(", ")}
