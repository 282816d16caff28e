"""Ftrace text that ends before it is whole."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from dctv.readers.ftrace_text import READER
from dctv.session import Session
from tests.command_line import run
from tests.readers.ftrace_text.ftrace_reading import read

HEADER = "# tracer: nop\n#\n# entries-in-buffer/entries-written: 3/5   #P:2\n#\n"
LATENCY = "# nop latency trace v1.1.5 on 6.18\n# latency: 0 us, #3/5, CPU#0 | (M:PREEMPT VP:0)\n"
EVENT = "  sh-7 [001] ..... 2.500000: e: a=12345\n"
PAGE = '<!DOCTYPE html>\n<html><script class="trace-data" type="application/text">\n{}</script></html>\n'


def reasons(text: str | bytes) -> list[tuple[str, int]]:
    return [(found.reason, found.count) for found in read(text).diagnostics if found.incomplete]


@pytest.mark.parametrize("header", [HEADER, LATENCY])
def test_fewer_events_than_the_header_counts(header: str) -> None:
    """G4: the kernel's header says how many events follow."""
    assert reasons(header + EVENT * 3) == []
    found = read(header + EVENT)
    assert [(one.reason, one.count, one.example) for one in found.diagnostics if one.incomplete] == [
        ("event that the header counts and the file lacks", 2, "the header says 3, the file has 1")
    ]


def test_lines_that_cannot_be_read_are_not_missing() -> None:
    assert reasons(HEADER + EVENT * 2 + "  sh-7 [001] ..... 2.500000: UNKNOWN TYPE 5\n") == []


@pytest.mark.parametrize("pack", [str.encode, lambda text: gzip.compress(text.encode())])
@pytest.mark.parametrize("size", [1, 10, len(EVENT) - 1])
def test_a_file_that_ends_in_the_middle_of_a_line(size: int, pack: object) -> None:
    """G4: its last values may be cut, so the trace is not whole."""
    assert callable(pack)
    assert reasons(pack(EVENT + EVENT[:-1][:size].rjust(5, "x"))) == [("file ends in the middle of a line", 1)]
    assert reasons(pack(EVENT + EVENT)) == []
    assert reasons(pack(EVENT + EVENT + "      ")) == []


def test_a_page_that_ends_early() -> None:
    page = PAGE.format(EVENT * 3)
    assert reasons(page) == []
    assert reasons(page[: page.index("</script")]) == [("file is damaged or ends early", 1)]


@pytest.mark.parametrize("index", ["--index", "--no-index"])
def test_the_command_line_says_so(index: str, tmp_path: Path) -> None:
    path = tmp_path / "cut.txt"
    path.write_text(HEADER + EVENT * 2)
    done = run("query", index, "--index-dir", tmp_path / "i", f"t={path}", "SELECT COUNT(*) AS n FROM t.events")
    assert (done.code, "event that the header counts and the file lacks" in done.err) == (3, True)


def test_the_command_line_says_that_most_could_not_be_read(tmp_path: Path) -> None:
    """F8: text of the options `raw`, `hex` and `nocontext-info` looked like an empty trace."""
    path = tmp_path / "raw.txt"
    path.write_text("# tracer: nop\n#\n17449 0 1964053822304 type: 372\n")
    done = run("query", "--no-index", f"t={path}", "SELECT COUNT(*) AS n FROM t.events")
    assert (done.code, "most lines could not be read" in done.err) == (3, True)


def test_chunked_reading_reports_the_same(tmp_path: Path) -> None:
    path = tmp_path / "cut.txt"
    path.write_text(HEADER + EVENT * 2 + EVENT[:20])
    assert READER.chunks is not None
    found = {}
    for index in (False, True):
        with Session(index=index, index_dir=tmp_path / "index") as session:
            session.mount(str(path), "t")
            found[index] = session.sql("SELECT reason, count FROM t.diagnostics").arrow().to_pylist()
    assert found[False] == found[True] != []
