"""The same filters over recordings, and over Chrome JSON that dctv and the real tool made of them."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dctv.cli import main
from dctv.cli.call_trees.options import add_filter_options, arguments
from dctv.session import Session

FILTERS = {
    "abc5": [
        "",
        "-F main -F a@sample=2",
        "-T a@sample=2",
        "-N b",
        "-D 3 -F a",
        "-H b",
        "-C c",
        "--trace off -T b@trace_on",
    ],
    "nest": [
        "-F odd",
        "-t 1ms",
        "-F main -F even@sample=2 -F leaf@sample=2",
        "-C mid",
        "-T rec@depth=2",
        "-r 5us~10us",
    ],
    "args": [
        "-F add@if:arg1==3",
        "-F add@if:arg1!=3",
        "-N add@if:arg1>=3",
        "-F flags@if:arg1/u&15",
        "-F greet@sample=2",
    ],
}
RECORDINGS = {"abc5": "data-abc5", "nest": "data-nest", "args": "data-args", "argsauto": "data-argsauto"}
DUMPS = {"args": "096.txt", "argsauto": "106.txt", "nest": "073.txt"}
"""What the real tool made; that of `nest` with `-F odd`."""
CASES = [(name, words) for name, all_words in FILTERS.items() for words in all_words]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A session with the recordings, what dctv makes of them (`_json`) and what the tool did (`_dump`)."""
    root = os.environ.get("DCTV_TRACES")
    if root is None:
        pytest.fail("the environment variable DCTV_TRACES does not say where the trace collection is")
    goldens, folder = Path(root) / "uftrace_goldens", tmp_path_factory.mktemp("dumps")
    with Session(index=False) as made:
        for name, data in RECORDINGS.items():
            dumped = folder / f"{name}.json"
            assert main(["convert", str(goldens / data), str(dumped), "--no-index"]) == 0
            made.mount(str(goldens / data), name)
            made.mount(str(dumped), f"{name}_json")
        for name, file in DUMPS.items():
            dumped = folder / f"{name}_dump.json"
            dumped.write_bytes((goldens / "expected" / file).read_bytes())
            made.mount(str(dumped), f"{name}_dump")
        yield made


def rows(session: Session, mount: str, words: str, columns: str = "tid, args, retval") -> list[tuple[Any, ...]]:
    """Return what filters show, by time since the first call; the parent by its time and name."""
    parser = ArgumentParser()
    add_filter_options(parser)
    chosen = ", ".join(arguments(parser.parse_args(words.split()), 0))
    found = session.sql(
        f"SELECT id, parent_id, _ts, name, _duration, depth, {columns} FROM dctv.filter_calls({mount}.calls, {chosen})"
    ).fetchall()
    start = min((row[2] for row in found), default=0)
    places = {row[0]: (row[2] - start, row[3]) for row in found}
    return [(places[row[0]], places.get(row[1]), *row[4:]) for row in found]


@pytest.mark.parametrize(("name", "words"), CASES, ids=[f"{name} {words}" for name, words in CASES])
def test_converted_traces_show_the_same(session: Session, name: str, words: str) -> None:
    expected = rows(session, name, words)
    assert expected
    assert rows(session, f"{name}_json", words) == expected


@pytest.mark.parametrize("words", ["", *FILTERS["args"]])
@pytest.mark.parametrize("name", ["args", "argsauto"])
def test_dumps_of_the_tool_show_the_same(session: Session, name: str, words: str) -> None:
    assert rows(session, f"{name}_dump", words) == rows(session, name, words)


@pytest.mark.parametrize("words", ["", "-N mid", "-C leaf", "-H mid", "-T mid@sample=2", "-F odd@sample=3"])
def test_filtered_dumps_of_the_tool_show_the_same(session: Session, words: str) -> None:
    assert rows(session, "nest_dump", words) == rows(session, "nest", f"-F odd {words}")
