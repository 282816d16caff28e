"""Worked cases of what keeps states: many attributes, times below 0, texts, files of another version or trace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dctv.state import (
    AttributeNotFound,
    HistoryDamaged,
    PartialStateSystem,
    StateSystem,
    TimeOutOfRange,
    WrongValue,
    compare,
)
from tests.state.systems import replay_of, spans, states_of


@pytest.fixture(params=["memory", "disk", "opened"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def begun(kind: str, folder: Path, start: int = 0) -> StateSystem:
    return StateSystem.in_memory(start) if kind == "memory" else StateSystem.on_disk(folder / "history", start)


def ended(system: StateSystem, kind: str, folder: Path, end: int) -> StateSystem:
    system.close(end)
    return StateSystem.open(folder / "history") if kind == "opened" else system


def test_case_8_ten_attributes(kind: str, tmp_path: Path) -> None:
    """Ends of intervals are begins of the next here, since changes are what comes in, not intervals."""
    system = begun(kind, tmp_path)
    quarks = [system.add(str(number)) for number in range(10)]
    changes: list[tuple[int, int, int | None]] = []
    for step in range(1000):
        for number, quark in enumerate(quarks):
            changes.append((100 * step + number, quark, step % 100))
            changes.append((100 * step + 91 + number, quark, None))
    # What lies between two intervals of the last attributes reaches into the next hundred.
    for time, quark, value in sorted(changes, key=lambda change: change[0]):
        if time <= 99_999:
            system.modify(time, value, quark)
    system = ended(system, kind, tmp_path, 99_999)
    assert spans(system.full_state(950)) == [(900 + k, 990 + k, 9) for k in range(10)]
    assert spans([system.state(0, 0)]) == [(0, 90, 0)]
    assert system.state(99, 0).value is None
    assert system.state(999, 0).value is None
    assert spans([system.state(99_998, 9)]) == [(99_909, 99_999, 99)]
    for time in (-1, 100_000):
        with pytest.raises(TimeOutOfRange):
            system.state(time, 0)
        with pytest.raises(TimeOutOfRange):
            system.full_state(time)


@pytest.mark.parametrize(("attributes", "full"), [(10, 0), (1000, 10)])
def test_case_9_intervals_one_after_the_other(kind: str, tmp_path: Path, attributes: int, full: int) -> None:
    """Each attribute changes every 10, one after the other; the first `full` have one state all the time."""
    system = begun(kind, tmp_path)
    quarks = [system.add(str(number)) for number in range(attributes)]
    for quark in quarks[:full]:
        system.modify(0, -1, quark)
    for time in range(1001):
        for quark in quarks[full:]:
            if time % 10 == quark % 10:
                system.modify(time, time, quark)
    system = ended(system, kind, tmp_path, 1000)
    for time in range(0, 1001, 1 if attributes == 10 else 97):
        for quark, found in zip(quarks, system.full_state(time), strict=True):
            begin = time - (time - quark) % 10
            known = (0, -1) if quark < full else (begin, begin) if begin >= 0 else (0, None)
            assert (found.start, found.value) == known
            assert time in found
            assert system.state(time, quark) == found
            end = 1000 if quark < full else min(1000, begin + 9)
            assert found.end == end


def test_case_9_times_below_0(kind: str, tmp_path: Path) -> None:
    """Upstream's intervals end where the next begin and the earlier one answers there; changes do not overlap."""
    system = begun(kind, tmp_path, -1001)
    quark = system.add("x")
    for time in range(-1001, 1000, 10):
        system.modify(time, time, quark)
    system = ended(system, kind, tmp_path, 1000)
    assert spans([system.state(-2, quark)]) == [(-11, -2, -11)]
    expected = {-1001: -1001, -992: -1001, -991: -991, -11: -11, -1: -1, 8: -1, 9: 9}
    assert {time: system.state(time, quark).value for time in expected} == expected


def test_case_9_changes_before_the_begin(kind: str, tmp_path: Path) -> None:
    system = begun(kind, tmp_path, 100)
    quark = system.add("x")
    with pytest.raises(TimeOutOfRange, match="before the begin"):
        system.modify(99, 1, quark)


def test_times_at_the_ends_of_a_history(kind: str, tmp_path: Path) -> None:
    least, most = -(2**63), 2**63 - 1
    system = begun(kind, tmp_path, least)
    quark = system.add("x")
    system.modify(least, 1, quark)
    system.modify(0, 2, quark)
    system.modify(most, 3, quark)
    system = ended(system, kind, tmp_path, most)
    assert states_of(system, "x") == [(least, -1, 1), (0, most - 1, 2), (most, most, 3)]
    assert spans(system.history(quark)) == states_of(system, "x")
    assert list(system.history(quark, backwards=True)) == list(system.history(quark))[::-1]


TEXTS = ["", "Another éèstr", "a", "é", "‰", "\N{GRINNING FACE}", "\0", "line\nline", "x" * 32_767, "é" * 16_383]


def test_case_10_texts(kind: str, tmp_path: Path) -> None:
    system = begun(kind, tmp_path)
    quark = system.add("x")
    for time, text in enumerate(TEXTS):
        system.modify(time, text, quark)
    for text in ("x" * 32_768, "é" * 16_384):
        with pytest.raises(WrongValue, match="32768 bytes is too long, at most 32767"):
            system.modify(len(TEXTS), text, quark)
    system = ended(system, kind, tmp_path, len(TEXTS))
    assert [one.value for one in system.history(quark)] == TEXTS
    assert system.kind(quark) == "string"


@pytest.mark.parametrize("value", [-(2**63), 2**63 - 1, 0, 5e-324, -0.0, 1.7976931348623157e308, float("inf")])
def test_numbers_round_trip(kind: str, tmp_path: Path, value: float) -> None:
    system = begun(kind, tmp_path)
    quark = system.add("x")
    system.modify(1, value, quark)
    system.modify(2, None, quark)
    system = ended(system, kind, tmp_path, 3)
    found = system.state(1, quark).value
    assert (repr(found), type(found)) == (repr(value), type(value))


def test_types_of_an_attribute_are_one(kind: str, tmp_path: Path) -> None:
    system = begun(kind, tmp_path)
    quark = system.add("x")
    assert system.kind(quark) == "null"
    system.modify(1, None, quark)
    system.modify(2, 1.5, quark)
    for value in (1, "text"):
        with pytest.raises(WrongValue, match="has states of type double"):
            system.modify(3, value, quark)
        with pytest.raises(WrongValue, match="has states of type double"):
            system.update_ongoing(value, quark)
    for other in (2**31, -(2**31) - 1):
        with pytest.raises(WrongValue, match="too large for an int"):
            system.modify(3, other, system.add("int"), "int")
    with pytest.raises(WrongValue, match="64 bits"):
        system.modify(3, 2**63, system.add("long"))
    system = ended(system, kind, tmp_path, 4)
    assert states_of(system, "x") == [(0, 1, None), (2, 4, 1.5)]


def test_case_17_a_file_of_another_version(tmp_path: Path) -> None:
    """A history is asked for by what it is of: a trace, what was looked for, from which time on, in which version."""
    path = tmp_path / "history"
    system = StateSystem.on_disk(path, 5, b"trace 1, provider 1, from 5")
    system.close(10)
    opened = StateSystem.open(path, b"trace 1, provider 1, from 5")
    assert (opened.start, opened.end) == (5, 10)
    assert StateSystem.open(path).start == 5
    for other in (b"trace 2, provider 1, from 5", b"trace 1, provider 2, from 5", b"trace 1, provider 1, from 6", b""):
        with pytest.raises(HistoryDamaged, match="another trace, or was made by another version"):
            StateSystem.open(path, other)
    data = bytearray(path.read_bytes())
    # The trailer ends with the version, in four bytes, and the eight that the file begins with.
    data[-12] += 1
    path.write_bytes(data)
    with pytest.raises(HistoryDamaged, match="version 3, expected 2"):
        StateSystem.open(path)


@pytest.mark.parametrize("data", [b"", b"x", b"dctv.hst", b"dctv.hst" * 5, b"{}" * 4096])
def test_case_17_a_file_that_is_no_history(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "history"
    path.write_bytes(data)
    with pytest.raises(HistoryDamaged):
        StateSystem.open(path)


def test_case_18_order_of_values() -> None:
    assert compare(None, -1) == -1
    assert compare(-1, None) == 1
    assert compare(None, "") == -1
    assert compare(None, None) == 0
    assert compare(1, 1.0) == 0
    assert compare(2**53 + 1, float(2**53)) == 1
    assert compare("a", "b") == -1
    assert compare(-1, 1.5) == -1
    for one, other in (("1", 1), (1.0, "1")):
        with pytest.raises(WrongValue, match="expected two texts or two numbers"):
            compare(one, other)


LARGE = [2**63, -(2**63) - 1, 2**64, 10**30, 10**5000]
ASKED: list[tuple[type[Exception], Callable[[StateSystem, int], object]]] = [
    (TimeOutOfRange, lambda one, large: one.state(large, 0)),
    (TimeOutOfRange, lambda one, large: one.full_state(large)),
    (TimeOutOfRange, lambda one, large: list(one.query_2d([0], times=[1, large]))),
    (TimeOutOfRange, lambda one, large: list(one.query_2d([0], first=large))),
    (TimeOutOfRange, lambda one, large: list(one.query_2d([0], last=large))),
    (TimeOutOfRange, lambda one, large: one.range_max(0, large, large)),
    (TimeOutOfRange, lambda one, large: one.range_average(0, large, large)),
    (AttributeNotFound, lambda one, large: one.state(1, large)),
    (AttributeNotFound, lambda one, large: list(one.query_2d([large]))),
    (AttributeNotFound, lambda one, large: one.name(large)),
]
CHANGED: list[tuple[type[Exception], Callable[[StateSystem, int], object]]] = [
    (TimeOutOfRange, lambda one, large: one.modify(large, 1, 0)),
    (TimeOutOfRange, lambda one, large: one.remove(large, 0)),
    (TimeOutOfRange, lambda one, large: one.later(large, "modify", 0, 1)),
    (TimeOutOfRange, lambda one, large: one.close(large)),
    (AttributeNotFound, lambda one, large: one.modify(1, 1, large)),
    (WrongValue, lambda one, large: one.modify(1, large, 0)),
    (WrongValue, lambda one, large: one.increment(1, 0, large)),
]


@pytest.mark.parametrize("large", LARGE, ids=["2^63", "below", "2^64", "10^30", "10^5000"])
def test_numbers_of_more_than_64_bits(tmp_path: Path, large: int) -> None:
    """They get errors that say so, as times and attributes and states, from histories of all kinds."""
    with pytest.raises(TimeOutOfRange, match="has more than 64 bits"):
        StateSystem.in_memory(large)
    systems = [
        StateSystem.in_memory(),
        StateSystem.on_disk(tmp_path / "full"),
        PartialStateSystem.build(tmp_path / "partial", replay_of([])),
    ]
    for system in systems:
        system.add("x")
        for kind, change in CHANGED:
            with pytest.raises(kind):
                change(system, large)
        system.close(5)
        for kind, ask in ASKED:
            with pytest.raises(kind):
                ask(system, large)
