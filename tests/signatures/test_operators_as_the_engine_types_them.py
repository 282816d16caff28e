"""Types of operators, common types and casts match the engine's, for all pairs of types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.signatures.casts import cast_cost, settled
from dctv.signatures.combine import common
from dctv.signatures.functions import operator_type
from dctv.signatures.types import Type, parse
from tests.bounds import LEFT_TO_CI, bounded
from tests.signatures.engine import ALL, COLUMNS, OTHERS, PLAIN, described, operand, operation

ARITHMETIC = ("+", "-", "*", "/", "//", "%")
OPERATORS = (*ARITHMETIC, "&", "|", "<<", ">>", "||", "=", "!=", "<", ">=", "LIKE", "ILIKE", "GLOB", "AND", "OR")
UNARY = ("-", "+", "~", "NOT", "IS NULL")
PAIRS = list(product(ALL, ALL))
Told = Callable[[tuple[str, ...]], Type | None]
Written = Callable[[tuple[str, ...]], str]


def differing(tried: Sequence[tuple[str, ...]], told: Told, written: Written) -> list[object]:
    """Return differences from the engine's types, querying some hundreds at a time."""
    wrong: list[object] = []
    known = [(types, found) for types in tried if (found := told(types)) is not None]
    for start in range(0, len(known), 300):
        some = known[start : start + 300]
        theirs = described([written(types) for types, _ in some])
        wrong += [
            (types, str(found), his) for (types, found), his in zip(some, theirs, strict=True) if str(found) != his
        ]
    return wrong


def gaps(tried: Sequence[tuple[str, ...]], told: Told, written: Written) -> list[object]:
    """Return the types that the engine determines, and the table does not."""
    silent = [types for types in tried if told(types) is None]
    # The engine takes its time to refuse something.
    return [types for types in silent[:: 5 if LEFT_TO_CI else 1] if described([written(types)]) != [None]]


def types_of(names: Sequence[str]) -> list[Type]:
    return [parse(name) for name in names]


@pytest.mark.parametrize("op", OPERATORS)
def test_operators_of_two(op: str) -> None:
    assert differing(PAIRS, lambda pair: operator_type(op, types_of(pair)), lambda pair: operation(op, pair)) == []


@pytest.mark.parametrize("op", ARITHMETIC)
def test_types_of_arithmetic_match_the_engine(op: str) -> None:
    plain = list(product((*PLAIN, "DECIMAL(18,3)"), repeat=2))
    assert gaps(plain, lambda pair: operator_type(op, types_of(pair)), lambda pair: operation(op, pair)) == []


@pytest.mark.parametrize("op", UNARY)
def test_operators_of_one(op: str) -> None:
    each = [(one,) for one in ALL]
    assert differing(each, lambda one: operator_type(op, types_of(one)), lambda one: operation(op, one)) == []


@pytest.mark.parametrize("op", ["BETWEEN", "IN"])
@given(st.data())
@bounded(40)
def test_operators_of_three(op: str, data: st.DataObject) -> None:
    tried = data.draw(st.lists(st.tuples(*[st.sampled_from(ALL)] * 3), min_size=20, max_size=40))
    assert differing(tried, lambda three: operator_type(op, types_of(three)), lambda three: operation(op, three)) == []


def coalesced(types: tuple[str, ...]) -> str:
    return f"COALESCE({', '.join(map(operand, types))})"


def chosen(types: tuple[str, ...]) -> str:
    last, *others = map(operand, types)
    return f"CASE {' '.join(f'WHEN c0 THEN {one}' for one in others)} ELSE {last} END"


def united(types: tuple[str, ...]) -> str:
    return f"({' UNION ALL '.join(f'SELECT {operand(one)} FROM t' for one in types)})"


@pytest.mark.parametrize("written", [coalesced, chosen])
def test_common_types_of_two(written: Written) -> None:
    assert differing(PAIRS, lambda pair: common(types_of(pair)), written) == []


def test_common_types_match_the_engine() -> None:
    assert gaps(PAIRS, lambda pair: common(types_of(pair)), coalesced) == []


def test_unions_look_at_columns() -> None:
    pairs = PAIRS[:: 7 if LEFT_TO_CI else 1]
    assert differing(pairs, lambda pair: common([settled(parse(one)) for one in pair]), united) == []


@pytest.mark.parametrize("written", [coalesced, chosen])
@given(st.data())
@bounded(80)
def test_common_types_of_several(written: Written, data: st.DataObject) -> None:
    several = st.lists(st.sampled_from((*ALL, *PLAIN, *PLAIN)), min_size=3, max_size=5).map(tuple)
    tried = data.draw(st.lists(several, min_size=20, max_size=40))
    assert differing(tried, lambda types: common(types_of(types)), written) == []


@pytest.mark.parametrize(
    ("function", "targets"),
    [
        ("sin", ["DOUBLE"]),
        ("lower", ["VARCHAR"]),
        ("chr", ["INTEGER"]),
        ("to_hours", ["BIGINT"]),
        ("uuid_extract_version", ["UUID"]),
        ("bit_length", ["BIT", "VARCHAR"]),
        ("json_pretty", ["JSON"]),
        ("octet_length", ["BIT", "BLOB"]),
        ("last_day", ["DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"]),
    ],
)
def test_implicit_casts_match_the_engine(function: str, targets: list[str]) -> None:
    """A function of one type accepts exactly the types that are cast to it."""
    taken = [one for one in COLUMNS if described([f"{function}({operand(one)})"]) != [None]]
    castable = [one for one in COLUMNS if any(cast_cost(parse(one), parse(to)) is not None for to in targets)]
    assert taken == castable


def test_types_are_written_as_they_are_read() -> None:
    for one in (*PLAIN, *OTHERS, *ALL):
        assert str(parse(one)) == one


@pytest.mark.parametrize("text", ["", "(", "STRUCT(", "INTEGER[", "INTEGER)", "DECIMAL(1", "INTEGER[x]", "?"])
def test_invalid_types_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(text)
