"""Views of every trace in the collection with threads agree with each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from dctv.errors import DctvError
from dctv.session import Session
from tests.collection.ftrace_lines import COLLECTION
from tests.cross_checks import faults

LARGEST = 4 << 20
"""Bytes of a file that is read here; larger ones are checked by the tests of their formats."""


def _traces() -> list[Path]:
    files = [
        path
        for folder in ("ftrace-text", "trace-cmd", "perf/live", "perfetto")
        for path in (COLLECTION / folder).rglob("*")
        if path.is_file() and path.stat().st_size <= LARGEST and not {"truth", "src"} & set(path.parts)
    ]
    files += (COLLECTION / "perfetto-diff" / "traces").glob("ProcessTracking_process_tracking*.pftrace")
    files += (COLLECTION / "perfetto-diff" / "traces").glob("ParsingRssStats*.pftrace")
    return sorted(files)


@pytest.mark.parametrize("path", _traces(), ids=lambda path: str(path.relative_to(COLLECTION)))
def test_views_agree(path: Path) -> None:
    with Session() as session:
        try:
            session.mount(str(path), "t")
        except DctvError:
            assert path.suffix not in {".pftrace", ".dat"}
            return
        assert not list(faults(session))
