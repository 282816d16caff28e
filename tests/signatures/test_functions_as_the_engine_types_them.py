"""Types of calls match the engine's, for all functions that queries may call."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.engines.allowed import KINDS
from dctv.signatures.functions import result_type
from dctv.signatures.table import signatures
from dctv.signatures.types import parse
from tests.bounds import LEFT_TO_CI, bounded
from tests.signatures.engine import ALL, COLUMNS, LITERALS, PLAIN, call, described

GAPS = Path(__file__).with_name("known_gaps.txt")
NAMES = sorted(KINDS)
COMMON = ("BIGINT", "DOUBLE", "VARCHAR", "BOOLEAN", "TIMESTAMP", "INTEGER_LITERAL(1)", "STRING_LITERAL")


def told(name: str, types: Sequence[str]) -> str | None:
    found = result_type(name, [parse(one) for one in types])
    return None if found is None else str(found)


def near(parameter: str) -> list[str]:
    """Return types that a parameter may take: its own often, and those of its kind."""
    alike = [one for one in COLUMNS if one.endswith("]") == parameter.endswith("]") and one[:3] == parameter[:3]]
    lists = [one for one in COLUMNS if one.endswith("]")] if parameter.endswith("]") else []
    return [*([parameter] * 3 if parameter in COLUMNS else []), *alike, *lists, *PLAIN, *LITERALS]


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, tuple[str, ...]]:
    name = draw(st.sampled_from(NAMES))
    known = signatures(name)
    if not known or draw(st.integers(0, 5)) == 0:
        return name, tuple(draw(st.lists(st.sampled_from(ALL), max_size=3)))
    one = draw(st.sampled_from(known))
    parameters = [*one.parameters, *([one.more] * draw(st.integers(0, 2)) if one.more else [])]
    return name, tuple(draw(st.sampled_from(near(str(parameter)))) for parameter in parameters)


@given(st.lists(calls(), min_size=40, max_size=80))
@bounded(400)
def test_result_types_match_the_engine(found: list[tuple[str, tuple[str, ...]]]) -> None:
    wrong = []
    for kind in ("scalar", "aggregate", "window"):
        known = [one for one in found if KINDS[one[0]] == kind and told(*one) is not None]
        types = described([call(*one) for one in known])
        wrong += [(*one, told(*one), theirs) for one, theirs in zip(known, types, strict=True) if told(*one) != theirs]
    assert wrong == []


@pytest.mark.parametrize("kind", ["scalar", "aggregate", "window"])
def test_every_signature_has_a_result_for_its_own_types(kind: str) -> None:
    """Signatures without a result type are in the file of gaps."""
    found = {
        (name, tuple(map(str, one.parameters)))
        for name in NAMES
        if KINDS[name] == kind
        for one in signatures(name)
        if all(str(parameter) in COLUMNS for parameter in one.parameters)
    }
    known = sorted(one for one in found if told(*one) is not None)
    types = described([call(*one) for one in known])
    wrong = [(*one, told(*one), theirs) for one, theirs in zip(known, types, strict=True) if told(*one) != theirs]
    assert wrong == []
    assert known


def test_gaps_are_known() -> None:
    """Calls with plain arguments that the engine types and dctv does not; fewer are better, more need a reason."""
    widths = (0, 1, 2)
    # A text that is read as a number is no plain argument.
    plain = COMMON[:-1]
    every = [(name, types) for name in NAMES for width in widths for types in product(plain, repeat=width)]
    silent = [one for one in every if told(*one) is None]
    # The engine takes its time to refuse a call.
    tried = silent[::11] if LEFT_TO_CI else silent
    gaps = {one[0] for one in tried if described([call(*one)]) != [None]}
    known = set(GAPS.read_text(encoding="utf-8").split())
    assert gaps - known == set()
    assert LEFT_TO_CI or gaps == known


def test_plain_calls_have_types() -> None:
    every = [(name, types) for name in NAMES for width in (0, 1, 2) for types in product(COMMON, repeat=width)]
    known = [one for one in every if told(*one) is not None]
    assert len(known) > 2000
    wrong = []
    for kind in ("scalar", "aggregate", "window"):
        own = [one for one in known if KINDS[one[0]] == kind]
        for start in range(0, len(own), 200):
            some = own[start : start + 200]
            types = described([call(*one) for one in some])
            wrong += [
                (*one, told(*one), theirs) for one, theirs in zip(some, types, strict=True) if told(*one) != theirs
            ]
    assert wrong == []


def test_names_are_known_in_any_case() -> None:
    assert told("SUM", ["INTEGER"]) == told("sum", ["INTEGER"]) == "HUGEINT"


def test_unknown_functions_have_no_type() -> None:
    assert told("no_such_function", ["INTEGER"]) is None
