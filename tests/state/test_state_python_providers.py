"""State systems that functions of Python make, and numbers that are too large for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dctv.errors import DctvError, Interrupted
from dctv.session import Session
from dctv.state import StateError, StateSystem
from tests.state.test_state_keeping import TRACE, files

SELECT = "SELECT _ts, cpu, next_pid FROM t.raw_events.sched_switch"


class Running:
    """A provider that counts how often it is called."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, batches: Iterator[Any], states: StateSystem) -> None:
        self.calls += 1
        for batch in batches:
            for time, cpu, thread in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                states.modify(time, thread, states.add("CPUs", str(cpu), "Current_thread"))


def session(index_dir: Path | None = None, trace: Path = TRACE) -> Session:
    """Return a session with a mounted trace."""
    made = Session(index=index_dir is not None and "auto", index_dir=index_dir)
    made.mount(str(trace), "t")
    return made


@pytest.mark.parametrize("backend", ["full", "memory"])
def test_a_function_gives_the_same_history_as_a_select(backend: str) -> None:
    with session() as one:
        states = one.create_state_system("mine", Running(), SELECT, backend=backend)
        one.sql(
            "CREATE STATE SYSTEM other AS SELECT _ts, state_path('CPUs', cpu, 'Current_thread') AS path, next_pid "
            "FROM t.raw_events.sched_switch"
        )
        order = "ORDER BY quark, _ts"
        assert one.sql(f"SELECT * FROM mine {order}").fetchall() == one.sql(f"SELECT * FROM other {order}").fetchall()
        assert one.state_system("mine") is states
        assert states.end == one.sql("SELECT _ts FROM t.last_ts").fetchall()[0][0]
        assert one.sql("SELECT number FROM dctv.state_at(mine, 30us, paths=>'CPUs/0/*')").fetchall() == [(13,)]


def test_backend_none_stores_nothing() -> None:
    with session() as one:
        states = one.create_state_system("mine", Running(), SELECT, backend="none")
        assert states.interval_count == 0
        assert {row[0] for row in one.sql("SELECT number FROM mine").fetchall()} == {None}


def test_a_version_identifies_a_provider(tmp_path: Path) -> None:
    provider = Running()
    for version, calls in (("1", 1), ("1", 1), ("2", 2), ("2", 2), (None, 3), (None, 4), ("2", 4)):
        with session(tmp_path / "idx") as one:
            rows = one.create_state_system("t.mine", provider, SELECT, version=version).full_state(30_000)
            assert provider.calls == calls
            assert [state.value for state in rows if state.value is not None] == [13, 12]
    with session(tmp_path / "idx") as one:
        one.create_state_system("t.mine", provider, SELECT + " WHERE cpu = 0", version="2")
        assert provider.calls == 5
    assert len(files(tmp_path / "idx")) == 2


def test_its_begin_and_end() -> None:
    def provider(_: Iterator[Any], states: StateSystem) -> None:
        states.modify(-5, 1, states.add("a"))
        states.modify(7, 2, states.add("a"))

    with session() as one:
        states = one.create_state_system("mine", provider, "SELECT 1", start=-10, end=20)
        assert (states.start, states.end) == (-10, 20)
        states = one.create_state_system("mine", provider, "SELECT 1", start=-10, end=3, replace=True)
        assert (states.start, states.end) == (-10, 7)
        assert one.create_state_system("last", provider, "SELECT 1", start=-10).end == 7


def test_it_begins_with_an_aligned_trace() -> None:
    with Session() as one:
        for name, offset in (("early", -40_000), ("late", 40_000)):
            one.mount(TRACE, name, align=offset)
            states = one.create_state_system("mine", Running(), SELECT.replace("t.", f"{name}."), replace=True)
            assert (states.start, states.end) == (min(offset, 0), offset + 100_000)
            one.create_state_system("mine", Running(), SELECT.replace("t.", f"{name}."), start=-50_000, replace=True)
            assert one.state_system("mine").start == -50_000


def test_exceptions_of_a_provider_propagate_and_leave_nothing(tmp_path: Path) -> None:
    def broken(batches: Iterator[Any], states: StateSystem) -> None:
        Running()(batches, states)
        raise KeyError("mine")

    def unordered(_: Iterator[Any], states: StateSystem) -> None:
        states.modify(5, 1, states.add("a"))
        states.modify(4, 2, states.add("a"))

    def interrupted(batches: Iterator[Any], _: StateSystem) -> None:
        for _batch in batches:
            one.interrupt()

    def pressed(batches: Iterator[Any], _: StateSystem) -> None:
        for _batch in batches:
            raise KeyboardInterrupt

    with session(tmp_path / "idx") as one:
        for provider, error in (
            (broken, KeyError),
            (unordered, StateError),
            (interrupted, Interrupted),
            (pressed, Interrupted),
        ):
            with pytest.raises(error):
                one.create_state_system("t.mine", provider, SELECT, version="1")
            assert not files(tmp_path / "idx")
            assert not files(tmp_path / "idx", "building-*")
            assert one.columns("t.mine") is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backend": "memry"}, "`backend` is one of `full`, `memory`, `none`, found `memry`"),
        ({"backend": "partial"}, "its changes cannot be repeated part by part"),
        ({"granularity": 5}, "a state system has no option `granularity`"),
        ({"end": "5s"}, "`start` and `end` are whole numbers of ns"),
        ({"start": 2**64}, "64 bits"),
        ({"end": 2**64}, "64 bits"),
    ],
)
def test_unknown_options_are_refused(options: dict[str, Any], message: str) -> None:
    with session() as one, pytest.raises(DctvError, match=message):
        one.create_state_system("mine", Running(), SELECT, **options)


def test_names_of_something_else() -> None:
    with session() as one:
        with pytest.raises(DctvError, match="is a table or view already"):
            one.create_state_system("t.slices", Running(), SELECT)
        with pytest.raises(DctvError, match=r"`t\.slices` is not a state system"):
            one.state_system("t.slices")
        with pytest.raises(DctvError, match="unknown state system `nobody`"):
            one.state_system("nobody")


LARGE = 2**64
TOO_LARGE: list[Callable[[StateSystem], object]] = [
    lambda states: states.modify(LARGE, 1, 0),
    lambda states: states.modify(1, 1, LARGE),
    lambda states: states.push(LARGE, 1, 0),
    lambda states: states.later(LARGE, "modify", 0, 1),
    lambda states: states.modify_mipmap(LARGE, 1, 0, 2),
    lambda states: states.remove(-LARGE, 0),
    lambda states: states.state(LARGE, 0),
    lambda states: states.full_state(LARGE),
    lambda states: list(states.query_2d([0], times=[LARGE])),
    lambda states: list(states.query_2d([0], first=-LARGE)),
    lambda states: states.range_average(0, 0, LARGE),
    lambda states: states.path(LARGE),
    lambda states: states.add_below(LARGE, "x"),
    lambda states: states.close(LARGE),
    lambda _: StateSystem.in_memory(LARGE),
    lambda _: StateSystem.on_disk(Path("nowhere"), LARGE),
]


@pytest.mark.parametrize("ask", TOO_LARGE)
def test_numbers_of_more_than_64_bits_are_errors(ask: Callable[[StateSystem], object]) -> None:
    states = StateSystem.in_memory()
    states.add("a")
    with pytest.raises(StateError, match=r"64 bits|no attribute"):
        ask(states)
