"""Every function treats units as unit_rules.cases says; the registries hold every aggregate and window function."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from dctv.contracts.function_rule import FunctionRule
from dctv.contracts.registry import scan
from dctv.engines.allowed import KINDS
from dctv.engines.duckdb import DuckDB
from dctv.errors import UnitError
from dctv.functions import aggregate, scalar
from dctv.types.unit import NO_UNIT
from dctv.types.unit_rules import Argument, UnitRule, result_unit
from dctv.types.units import parse_unit

CASES = [
    line
    for line in Path(__file__).with_name("unit_rules.cases").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
AGGREGATES = scan(aggregate, FunctionRule)
SCALARS = scan(scalar, FunctionRule)
REGISTERED = AGGREGATES | SCALARS
BARE = set(Path(__file__).with_name("bare_functions.txt").read_text(encoding="utf-8").split())
OURS = {"sparkline", "state_names", "state_path", "time_avg", "time_sum", "unitless"}
SYNTAX = {"coalesce", "grouping", "grouping_id", "ifnull", "try"}


def argument(text: str) -> Argument:
    if text == "0":
        return None
    return NO_UNIT if text == "-" else parse_unit(text)


def call(text: str) -> str:
    name, _, rest = text.partition("(")
    arguments = [argument(part) for part in rest.removesuffix(")").split(", ") if part]
    rule = REGISTERED[name].rule if name in REGISTERED else UnitRule.BARE
    unit, factors = result_unit(rule, arguments, name)
    assert len(factors) == len(arguments)
    converted = " ; " + " ".join(map(str, factors)) if any(f != 1 for f in factors) else ""
    return (str(unit) or "bare") + converted


@pytest.mark.parametrize("case", CASES)
def test_case(case: str) -> None:
    text, mark, expected = case.partition(" ! ")
    if mark:
        with pytest.raises(UnitError) as caught:
            call(text)
        hint = f" | {caught.value.hint}" if caught.value.hint else ""
        assert caught.value.message + hint == expected
    else:
        text, _, expected = case.partition(" = ")
        assert call(text) == expected


@pytest.fixture(scope="module")
def engine_names() -> dict[str, set[str]]:
    with duckdb.connect() as connection:
        rows = connection.execute(
            "SELECT DISTINCT function_type, lower(function_name) FROM duckdb_functions()"
        ).fetchall()
    names: dict[str, set[str]] = {}
    for kind, name in rows:
        names.setdefault(kind, set()).add(name)
    return names


def test_every_aggregate_and_window_function_of_the_engine_has_a_rule(engine_names: dict[str, set[str]]) -> None:
    for kind in ("aggregate", "window"):
        registered = {name for name, rule in AGGREGATES.items() if rule.kind == kind}
        assert engine_names[kind] - registered == set()


def test_every_rule_is_for_a_function_that_exists(engine_names: dict[str, set[str]]) -> None:
    assert set(REGISTERED) - set().union(*engine_names.values()) == OURS | SYNTAX


def test_every_offered_function_has_a_rule_or_takes_bare_numbers() -> None:
    """A function that is offered anew must get a rule, or be listed as one that no quantity is given to."""
    assert {name for name in KINDS if name not in REGISTERED} == BARE


def test_every_function_of_the_engine_is_offered_or_refused_by_name(engine_names: dict[str, set[str]]) -> None:
    engine = DuckDB(threads=1, memory_limit=None, on_zero_division=lambda _: None)
    try:
        names = set().union(*(engine_names[kind] for kind in ("scalar", "aggregate", "window")))
        words = {name for name in names if name.isidentifier() and name not in KINDS}
        assert [name for name in sorted(words) if engine.refusal(name) is None] == []
    finally:
        engine.close()


def test_the_registries_share_no_name() -> None:
    assert AGGREGATES.keys() & SCALARS.keys() == set()
    assert {rule.kind for rule in SCALARS.values()} == {"scalar"}


def test_every_rule_is_in_use() -> None:
    assert {rule.rule for rule in REGISTERED.values()} == set(UnitRule)


@pytest.mark.parametrize("name", REGISTERED)
def test_bare_arguments_give_bare_results(name: str) -> None:
    unit, factors = result_unit(REGISTERED[name].rule, [NO_UNIT, NO_UNIT], name)
    assert str(unit) == ("ns" if name == "time_sum" else "")
    assert factors == [1, 1]
