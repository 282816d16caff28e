"""`graph`, `dump` and `info` give the output that upstream's tests expect, and dumps for Chrome show the same rows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dctv.session import Session
from tests.calls import programs
from tests.calls.recordings import printed
from tests.calls.test_same_rows_chrome import FILTERS, RECORDINGS, rows

GRAPHS = {
    "t069": (
        programs.SORT,
        ("main",),
        ["[0] main"],
        ["(1) main", "+-(2) foo", "| (6) loop", "|", "+-(1) bar", "(1) usleep"],
    ),
    "t070": (programs.ABC, ("getpid",), ["[0] main", "[1] a", "[2] b", "[3] c", "[4] getpid"], ["(1) getpid"]),
}


@pytest.mark.parametrize("row", GRAPHS)
def test_a_graph_is_printed(row: str, tmp_path: Path) -> None:
    recording, options, backtrace, tree = GRAPHS[row]
    stack, graph = printed(recording.write(tmp_path / "prog"), "graph", *options).split("FUNCTION CALL GRAPH")
    assert re.findall(r"^ *(\[\d+\] \w+) \(0x", stack, re.MULTILINE) == backtrace
    assert [one.strip() for one in re.findall(r"^[^#\n]* :(.*)$", graph, re.MULTILINE)] == tree


def test_a_graph_of_a_recording_of_the_middle(tmp_path: Path) -> None:
    """This is the recording of t039; of what had begun before only that is known which happened in it."""
    graph = printed(programs.NAMESPACE_MIDDLE.write(tmp_path / "prog"), "graph")
    assert re.findall(r"^ +([\d.]+) us :[ |+-]*(\(\d\) [\w:]+)$", graph, re.MULTILINE) == [
        ("0.400", "(1) prog"),
        ("0.400", "(0) ns::ns1::foo::bar"),
        ("0.300", "(0) ns::ns1::foo::bar1"),
        ("0.300", "(0) ns::ns1::foo::bar2"),
        ("0.300", "(1) ns::ns1::foo::bar3"),
        ("0.100", "(1) malloc"),
        ("0.100", "(1) free"),
    ]


def test_a_graph_has_columns(tmp_path: Path) -> None:
    """This is t187."""
    graph = printed(programs.SORT.write(tmp_path / "prog"), "graph", "-f", "+self,addr", "main")
    assert re.search(r"^# TOTAL TIME +SELF TIME +ADDRESS +FUNCTION$", graph, re.MULTILINE)
    assert re.search(r"^ +10\.002 ms +0\.400 us  [0-9a-f]{12} : \(1\) main$", graph, re.MULTILINE)


def test_a_dump_for_chrome_begins_and_ends_calls(tmp_path: Path) -> None:
    """This is t101."""
    dumped = printed(programs.ABC.write(tmp_path / "prog"), "dump", "--chrome", "-F", "main", "-D", "4")
    events = [one["ph"] + one["name"] for one in json.loads(dumped)["traceEvents"] if one["ph"] != "M"]
    assert events == ["Bmain", "Ba", "Bb", "Bc", "Ec", "Eb", "Ea", "Emain"]


def test_a_dump_for_flame_graphs_counts_samples(tmp_path: Path) -> None:
    """This is t102."""
    dumped = printed(programs.SLEEP.write(tmp_path / "prog"), "dump", "--flame-graph", "--sample-time=2ms")
    assert dumped.split("\n")[:-1] == ["main;foo;bar;usleep 1"]


def test_a_dump_for_dot_has_edges(tmp_path: Path) -> None:
    """This is t207."""
    dumped = printed(programs.ABC.write(tmp_path / "prog"), "dump", "--graphviz", "-F", "main", "-D", "4")
    edges = re.findall(r'"(\w+)" -> "(\w+)" \[xlabel = "(\d+)"\]', dumped)
    assert edges == [("prog", "main", "1"), ("main", "a", "1"), ("a", "b", "1"), ("b", "c", "1")]


def test_tasks_are_listed_with_flags(tmp_path: Path) -> None:
    """This is t229."""
    listing = printed(programs.FORK.write(tmp_path / "prog"), "info", "--task")
    assert re.findall(r"^ +[\d.]+ +(\w+) +\[ +(\d+)\] +(\w+)", listing, re.MULTILINE) == [
        ("FS", "1", "prog"),
        ("F", "2", "prog"),
    ]


def test_a_raw_dump_has_the_bytes_of_arguments(tmp_path: Path) -> None:
    """This is t258."""
    dumped = [line.strip() for line in printed(programs.STRUCT.write(tmp_path / "prog"), "dump").splitlines()]
    first = next(number for number, line in enumerate(dumped) if "[args ] length = 36" in line)
    assert dumped[first + 1] == "args[0] struct Option:"
    assert dumped[first + 2].startswith("0b 16 00 00 00 00 00 00")
    assert dumped[first + 3 : first + 7] == [
        "args[1] struct StringRef:",
        "args[2] d64: 0x000000000000002c",
        "args[3] d64: 0x0000000000000037",
        "args[4] d64: 0x0000000000000042",
    ]


WORDS = {name: words[:6] for name, words in FILTERS.items()}
CASES = [(name, words) for name, all_words in WORDS.items() for words in all_words]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A session with each recording, and, under the name with `_json`, its dump for Chrome."""
    folder = tmp_path_factory.mktemp("recordings")
    with Session(index=False) as made:
        for name in WORDS:
            whole, dumped = RECORDINGS[name].write(folder / name), folder / f"{name}.json"
            dumped.write_text(printed(whole, "dump", "--chrome"))
            made.mount(str(whole), name)
            made.mount(str(dumped), f"{name}_json")
        yield made


@pytest.mark.parametrize(
    ("name", "words"),
    # The other filters, over what `dctv convert` makes, are in test_same_rows_chrome.py.
    [
        pytest.param(name, words, id=f"{name} {words}", marks=() if words == WORDS[name][0] else pytest.mark.ci)
        for name, words in CASES
    ],
)
def test_a_dump_shows_the_same(session: Session, name: str, words: str) -> None:
    assert rows(session, f"{name}_json.calls", words) == rows(session, f"{name}.calls", words)
