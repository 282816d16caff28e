"""The same filters over a recording and over Chrome JSON that was made of it show the same rows."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.cli import main
from dctv.cli.call_trees.options import add_filter_options, arguments
from dctv.errors import BindError
from dctv.session import Session
from tests.bounds import bounded
from tests.calls import programs
from tests.calls.recordings import Recording

RECORDINGS: dict[str, Recording] = {
    "abc5": programs.ABC5,
    "allocfree": programs.ALLOCFREE,
    "nest": programs.NEST,
    "sleep": programs.SLEEP,
    "namespace": programs.NAMESPACE,
    "threads": programs.THREADS,
    "integers": programs.EXP_INT_RESULTS,
    "texts": programs.EXP_STR,
    "open": Recording("main(a(b), a(b(c), d(e(f"),
}
FILTERS = {
    "abc5": ["", "-F main -F a@sample=2", "-T a@sample=2", "-N b", "-D 2", "-F a -D 2", "-H b", "-C c", "-T b@filter"],
    "allocfree": ["-F alloc[135] -D 1", "-F alloc3 -D 2 -F free[15]", "-T alloc1@depth=2 -T free2@depth=1"],
    "nest": [
        "-t 1ms",
        "-t 1ms -T mid@trace",
        "-F main -F even@sample=2 -F leaf@sample=2",
        "-F rec@sample=2",
        "-C leaf",
        "-r 2us~5us",
        "-r ~3us -F odd",
        "-T rec@trace_off -T slow@trace_on",
        "--trace off -T mid@trace_on",
        "-T slow@finish",
        "-F od* --match glob",
        "-N leaf -T even@time=1ms",
        "-T mid@caller",
    ],
    "sleep": ["-t 1ms -T mem_alloc@trace-off -T mem_free@trace-on", "-t 1ms -C bar", "-t 1ms -T mem_alloc@time=0"],
    "namespace": ["-N bar3$ -T ns::ns2::foo::bar@depth=1", "--trace=off -N ns2.* -T malloc@traceoff -T ns@trace_on"],
    "threads": [
        "-F step@sample=2",
        "-F step@sample=4 -H work",
        "-F step@sample=2 --tid 3",
        "--tid 2,4",
        "-T work@trace_off",
    ],
    "integers": ["-F int_add@if:arg1==-1", "-F int_@if:arg1>=3", "-N int_@if:arg2&2", "-F int_@if:arg1<4,sample=2"],
    "texts": ["-F str_cpy@if:arg1==3", "-N str_@if:arg9==1"],
    "open": ["-F a", "-H d", "-T b@sample=2"],
}
CASES = [(name, words) for name, all_words in FILTERS.items() for words in all_words]


Recorded = Callable[[str], Session]
"""From the name of a recording to a session that has it, and, under the name with `_json`, what is made of it."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    folder = tmp_path_factory.mktemp("recordings")
    with Session(index=False) as made:

        @cache
        def of(name: str) -> Session:
            whole, dumped = RECORDINGS[name].write(folder / name), folder / f"{name}.json"
            assert main(["convert", str(whole), str(dumped), "--no-index"]) == 0
            made.mount(str(whole), name)
            made.mount(str(dumped), f"{name}_json")
            return made

        yield of


_PLACES = ", args, retval, _shown, _indent, _outdent, _stack"


def rows(session: Session, table: str, words: str, *, text: bool = False) -> list[tuple[Any, ...]]:
    """Return what filters show, with what a text needs if it is to be one; the parent by its time and name."""
    parser = ArgumentParser()
    add_filter_options(parser)
    chosen = ", ".join(arguments(parser.parse_args(words.split()), 0))
    function, more = ("shown_calls", _PLACES) if text else ("filter_calls", "")
    found = session.sql(
        f"SELECT id, parent_id, _ts, _duration, tid, depth, name{more} FROM dctv.{function}({table}, {chosen})"
    ).fetchall()
    places = {row[0]: (row[2], row[6]) for row in found}
    return sorted(((places.get(row[1]), *row[2:]) for row in found), key=repr)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param(name, words, id=f"{name} {words}", marks=pytest.mark.ci if at % 3 else ())
        for at, (name, words) in enumerate(CASES)
    ],
)
def test_calls_are_the_same(recorded: Recorded, name: str, words: str) -> None:
    session = recorded(name)
    text = name != "open"  # Chrome's JSON does not tell that a call was not left.
    assert rows(session, f"{name}_json.calls", words, text=text) == rows(session, f"{name}.calls", words, text=text)


@pytest.mark.parametrize("words", FILTERS["integers"])
def test_slices_are_the_same(recorded: Recorded, words: str) -> None:
    session = recorded("integers")
    assert rows(session, "integers_json.slices", words) == rows(session, "integers.calls", words)


_NAME = st.sampled_from(["main", "even", "odd", "mid", "leaf", "rec", "slow", "usleep", "^(odd|even)$", "e"])
_ACTION = st.one_of(
    st.sampled_from(["depth=1", "depth=2", "time=0", "time=1us", "filter", "notrace", "hide", "caller", "trace"]),
    st.sampled_from(
        ["sample=2", "sample=3", "filter,sample=2", "trace_on", "trace_off", "finish", "if:arg1==1,filter"]
    ),
)
_WORD = st.one_of(
    st.builds("{} {}".format, st.sampled_from(["-F", "-N", "-C", "-H"]), _NAME),
    st.builds("-F {}@sample={}".format, _NAME, st.integers(1, 4)),
    st.builds("-T {}@{}".format, _NAME, _ACTION),
    st.builds("-D {}".format, st.integers(1, 4)),
    st.builds("-t {}ns".format, st.sampled_from([100, 300, 500, 700, 2000])),
    st.builds("-r {}ns~{}ns".format, st.integers(0, 3000), st.integers(3000, 10**7)),
    st.sampled_from(["--trace off", "--match glob", "--tid 1"]),
)


@bounded(25)
@given(words=st.lists(_WORD, max_size=4).map(" ".join))
def test_any_filters_show_the_same(recorded: Recorded, words: str) -> None:
    session = recorded("nest")
    assert rows(session, "nest_json.calls", words) == rows(session, "nest.calls", words)


@pytest.mark.parametrize(("words", "needed"), [("-Z 20", "sizes"), ("-L a.c", "source files"), ("-F a@prog", "")])
def test_reports_that_need_more_than_chrome_traces_have_are_errors(recorded: Recorded, words: str, needed: str) -> None:
    session = recorded("abc5")
    if needed:
        with pytest.raises(BindError, match=f"these filters need {needed}, and the table has no column"):
            rows(session, "abc5_json.calls", words)
    else:
        assert rows(session, "abc5_json.calls", words) == []
