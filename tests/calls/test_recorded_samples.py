"""Samples of recordings: the listings of the request for them, cases worked out by hand, and that outputs agree."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path

import pytest

from dctv.cli.call_trees.options import add_filter_options, arguments
from dctv.session import Session
from tests.calls.programs import ABC5, FORK, NEST, THREADS
from tests.calls.recordings import LIBRARY, Recording, lines, printed, replayed

A, B = "a(b(c(getpid)))", "b(c(getpid))"
REC = "rec(leaf, rec(leaf, rec))"
CASES = [
    (ABC5, "-F main -F a@sample=2", f"main({A}, {A})"),
    (ABC5, "-T a@sample=2", f"__monstartup, __cxa_atexit, main({B}, {A}, {B}, {A}, {B})"),
    (ABC5, "-F a@sample=2 -F c@sample=2", f"a(b), {A}"),
    (ABC5, "-T a@filter,sample=2", f"{A}, {A}"),
    (ABC5, "-F a@sample=3", A),
    (ABC5, "-F a@sample=6", ""),
    (ABC5, "-F a -F c@sample=2", f"a(b), {A}, a(b), {A}, a(b)"),
    (NEST, "-F leaf@sample=3", "leaf, leaf, leaf, leaf"),
    (
        NEST,
        "-F main -F even@sample=2 -F leaf@sample=2",
        "main(odd(mid), even(leaf), odd(mid(leaf)), odd(mid), rec(leaf, rec(rec(leaf, rec))), slow(usleep), "
        "rec(rec(leaf, rec)))",
    ),
    (NEST, "-F rec@sample=2", "rec(leaf)"),
    (
        NEST,
        "-F main -T rec@sample=2",
        f"main({', '.join(['even(leaf, leaf), odd(mid(leaf))'] * 3)}, leaf, rec(leaf, leaf, rec), slow(usleep), leaf, "
        "rec(leaf))",
    ),
]


@pytest.mark.parametrize(("recording", "options", "expected"), CASES, ids=[case[1] for case in CASES])
def test_a_worked_case(recording: Recording, options: str, expected: str, tmp_path: Path) -> None:
    assert replayed(recording.write(tmp_path / "prog"), *options.split()) == lines(expected)


@pytest.mark.parametrize(("n", "times"), [(1, (3, 4, 5)), (2, (1, 2, 2)), (4, (0, 1, 1)), (6, (0, 0, 0))])
def test_counters_are_of_threads(n: int, times: tuple[int, ...], tmp_path: Path) -> None:
    """A counter for all threads would show 12, 6, 3 and 2."""
    folder = THREADS.write(tmp_path / "prog")
    shown = printed(folder, "replay", "-F", f"step@sample={n}")
    assert tuple(len(re.findall(rf"\[ +{tid}\] \| step\(", shown)) for tid in (2, 3, 4)) == times
    alone = [printed(folder, "replay", "--tid", str(tid), "-F", f"step@sample={n}") for tid in (2, 3, 4)]
    assert tuple(text.count("| step(") for text in alone) == times


@pytest.mark.parametrize("option", ["-F a", "-T a@depth=2", "-F main -F c", "-T b@filter"])
def test_sampling_one_of_one_keeps_everything(option: str, tmp_path: Path) -> None:
    folder = ABC5.write(tmp_path / "prog")
    sampled = option + ("," if "@" in option else "@") + "sample=1"
    assert printed(folder, "replay", *sampled.split()) == printed(folder, "replay", *option.split())


AGREE = [
    (ABC5, "-F main -F a@sample=2"),
    (ABC5, "-T a@sample=2 -N c@if:arg1==1"),
    (NEST, "-F main -F even@sample=2 -F leaf@sample=2"),
    (NEST, "-F main -T rec@sample=2 -D 3"),
    (NEST, "-t 1ms"),
    (NEST, "-C leaf -H rec"),
    (NEST, "-F odd -T mid@depth=1"),
    (THREADS, "-F step@sample=2 -N work"),
    (THREADS, "-T step@sample=3 --tid 3,4"),
    (FORK, "-F main -N c"),
    (FORK, "-D 3"),
    (FORK, "-F a@sample=1 -H b"),
]


def reported_counts(text: str) -> Counter[str]:
    """Return calls by function of a report."""
    return Counter({name: int(calls) for calls, name in re.findall(r" (\d+)  (\S.*)$", text, re.MULTILINE)})


@pytest.mark.parametrize(("recording", "options"), AGREE, ids=[case[1] for case in AGREE])
def test_replay_report_and_sql_agree(recording: Recording, options: str, tmp_path: Path) -> None:
    folder, words = recording.write(tmp_path / "prog"), options.split()
    shown = re.findall(r"^ *([\w ]+)\(\)( {|;)", replayed(folder, *words), re.MULTILINE)
    begun = Counter(name for name, _ in shown)
    parser = ArgumentParser()
    add_filter_options(parser)
    chosen = ", ".join(arguments(parser.parse_args(words), 0))
    with Session() as session:
        session.mount(str(folder), "t")
        rows = session.sql(f"SELECT name, state FROM dctv.filter_calls(t.calls, {chosen})").fetchall()
    assert Counter(name for name, state in rows if state is None) == begun
    assert Counter(name for name, _ in rows) == reported_counts(printed(folder, "report", *words))


def test_library_calls_are_those_through_the_table(tmp_path: Path) -> None:
    left = replayed(ABC5.write(tmp_path / "prog"), "--no-libcall")
    assert not LIBRARY & set(re.findall(r"\w+", left))
