"""Records behave as dataclasses do, from the first instance to the many that follow."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import re
from typing import Any

import pytest

from dctv.patterns import pattern
from dctv.record import Unread, field, fields, is_record, record, replace, unread


@record
class Point:
    x: int
    y: int = 2
    seen: list[str] = field(default_factory=list, compare=False)
    label: str = field(default="", repr=False, kw_only=True)


@record
class Place(Point):
    name: str = "here"


@record(frozen=False)
class Count:
    number: int = 0
    notes: list[str] = field(default_factory=list)
    doubled: int = field(init=False)

    def __post_init__(self) -> None:
        self.doubled = 2 * self.number


@record
class Late(Unread):
    one: int
    other: str = ""


MAKE: Any = Point
"""Called in ways that a type checker would not let pass."""


@pytest.mark.parametrize("number", range(20))
def test_first_and_later_instances_behave_the_same(number: int) -> None:
    point = Point(number, label="a")
    assert (point.x, point.y, point.seen, point.label) == (number, 2, [], "a")
    assert point == Point(number, 2, ["other"], label="a") != Point(number, 3, label="a")
    assert hash(point) == hash(Point(x=number, label="a"))
    assert repr(point) == f"Point(x={number}, y=2, seen=[])"
    assert Point(1).seen is not Point(1).seen


@pytest.mark.parametrize(("given", "named"), [((), {}), ((1, 2, [], 4), {}), ((1,), {"x": 2}), ((1,), {"z": 2})])
def test_wrong_arguments_raise_type_errors(given: tuple[int, ...], named: dict[str, int]) -> None:
    for _ in range(2):
        with pytest.raises(TypeError, match=r"Point\.__init__\(\)"):
            MAKE(*given, **named)


def test_frozen_records_do_not_change() -> None:
    point: Any = Point(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'x'"):
        del point.x


def test_others_do() -> None:
    count: Any = Count(3)
    count.number += 1
    assert (count.number, count.doubled, count == Count(4), count.notes) == (4, 6, False, [])
    with pytest.raises(TypeError, match="unhashable"):
        hash(count)
    with pytest.raises(AttributeError):
        count.more = 1


def test_the_standard_library_takes_them_for_dataclasses() -> None:
    assert dataclasses.is_dataclass(MAKE)
    assert is_record(MAKE)
    names = ["x", "y", "seen", "label"]
    assert [one.name for one in dataclasses.fields(Point)] == [one.name for one in fields(Point)] == names
    assert [one.name for one in dataclasses.fields(Place)] == [*names, "name"]
    changed = dataclasses.replace(Place(1, name="there"), y=5)
    assert changed == replace(Place(1, name="there"), y=5) == Place(1, 5, name="there")
    assert dataclasses.asdict(Point(1)) == {"x": 1, "y": 2, "seen": [], "label": ""}
    assert list(inspect.signature(Point).parameters) == names
    match Point(1):
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_records_can_be_copied_and_pickled() -> None:
    for one in (Place(1, name="there"), Count(2)):
        assert copy.deepcopy(one) == copy.copy(one) == pickle.loads(pickle.dumps(one)) == one


def test_lazy_values_are_read_once_on_access() -> None:
    read: list[int] = []

    def now() -> Late:
        read.append(1)
        return Late(5, "five")

    late: Any = unread(Late, now)
    assert read == []
    assert late == Late(5, "five")
    assert (late.one, late.other, hash(late), read) == (5, "five", hash(Late(5, "five")), [1])
    assert replace(unread(Late, now), one=6) == Late(6, "five")
    assert pickle.loads(pickle.dumps(unread(Late, lambda: Late(7)))) == Late(7)
    with pytest.raises(AttributeError, match="'Late' object has no attribute 'three'"):
        late.three()


def test_patterns_are_compiled_when_they_are_used() -> None:
    wrong = pattern("(")
    with pytest.raises(re.error):
        wrong.match("")
    digits = pattern(r"(?P<first>\d)\d*", re.ASCII)
    assert [m["first"] for m in digits.finditer("12 34")] == ["1", "3"]
    assert (digits.sub("x", "a1"), digits.groupindex["first"]) == ("ax", 1)
