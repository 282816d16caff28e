"""Every DFTracer and ftrace trace of the collection into groups and back."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from dctv.errors import TraceError
from dctv.provenance.groups import ReorganizeRequest
from dctv.provenance.restore import restore, verify
from dctv.session import Session

PATTERNS = {
    "dftracer/*.pfw*": 'cat == "POSIX"',
    "dftracer/samples/v*": "dur > 50us",
    "dftracer/live/*": 'name in ["read", "write", "open64"]',
    "ftrace-text/*": 'name == "sched_switch"',
}


NO_LINES = {"truth", "catapult_android_systrace.txt", "catapult_compressed_atrace.txt"}
"""Figures beside the traces, a viewer page, and what adb packed."""


def traces() -> list[tuple[str, str]]:
    folder = os.environ.get("DCTV_TRACES")
    if folder is None:
        return [("", "")]
    found = [(path, group) for pattern, group in PATTERNS.items() for path in sorted(Path(folder).glob(pattern))]
    return [
        (str(path.relative_to(folder)), group)
        for path, group in found
        if path.name not in NO_LINES and (path.is_dir() or path.suffix in {".pfw", ".gz", ".txt", ".systrace"})
    ]


def events_of(path: str) -> Counter[tuple[object, ...]]:
    with Session(index=False) as session:
        session.mount(path, "t")
        start = int(session.sql("SELECT value FROM t.properties WHERE key = 'start_ns'").fetchall()[0][0])
        rows = session.sql("SELECT * FROM t.events").fetchall()
    # The order of arguments is that in which the trace first has them.
    return Counter((row[0] + start, *row[1:-1], json.dumps(json.loads(row[-1]), sort_keys=True)) for row in rows)


@pytest.mark.parametrize(("path", "group"), traces(), ids=lambda value: value if "/" in value else "")
def test_groups_and_back(tmp_path: Path, path: str, group: str) -> None:
    folder = os.environ.get("DCTV_TRACES")
    if folder is None:
        pytest.fail("the environment variable DCTV_TRACES does not say where the trace collection is")
    with Session(index=False) as session:
        session.reorganize([str(Path(folder) / path)], ReorganizeRequest({"some": group}, tmp_path / "out"))
    verdict = verify(tmp_path / "out", lambda _done, _total: None)
    assert verdict.problems == []
    assert verdict.events > 0
    sources = {one.name: one for one in (tmp_path / "out").iterdir()}
    assert "provenance.pidx" in sources
    whole = Path(folder) / path
    for back in restore(tmp_path / "out", tmp_path / "back", lambda _done, _total: None):
        original = whole if whole.is_file() else whole / back.relative_to(tmp_path / "back")
        if whole.is_dir() and not original.exists():
            (original,) = whole.rglob(back.name)
        assert back.read_bytes() == original.read_bytes()
    assert events_of(str(tmp_path / "out")) == events_of(str(whole))


@pytest.mark.parametrize("name", sorted(NO_LINES - {"truth"}))
def test_traces_without_lines_are_refused(tmp_path: Path, name: str) -> None:
    folder = os.environ.get("DCTV_TRACES")
    if folder is None:
        pytest.fail("the environment variable DCTV_TRACES does not say where the trace collection is")
    with Session(index=False) as session, pytest.raises(TraceError, match="cannot be read line by line"):
        session.reorganize(
            [str(Path(folder) / "ftrace-text" / name)], ReorganizeRequest({"some": "cpu == 0"}, tmp_path / "out")
        )
    assert not (tmp_path / "out").exists()
