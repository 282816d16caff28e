"""The engine agrees with the unit rules: converting the arguments converts the result."""

from __future__ import annotations

import math

import duckdb
import pytest

from dctv.contracts.function_rule import FunctionRule
from dctv.contracts.registry import scan
from dctv.functions import aggregate, scalar
from dctv.types.unit_rules import UnitRule, result_unit
from dctv.types.units import parse_unit, ratio

REGISTERED = scan(aggregate, FunctionRule) | scan(scalar, FunctionRule)
ROWS = "(VALUES (3.0, 2.0, 1), (7.0, 5.0, 2), (7.0, 11.0, 3), (20.0, 4.0, 4), (1.0, 8.0, 5)) AS t(x, y, i)"
ONE_ARGUMENT = [
    "sum",
    "avg",
    "fsum",
    "kahan_sum",
    "mean",
    "favg",
    "geomean",
    "min",
    "max",
    "median",
    "mode",
    "mad",
    "any_value",
    "first",
    "last",
    "stddev",
    "stddev_pop",
    "sem",
    "variance",
    "var_pop",
    "skewness",
    "kurtosis",
    "kurtosis_pop",
    "entropy",
    "count",
    "sqrt",
    "cbrt",
    "abs",
    "sign",
    "isnan",
]
TWO_ARGUMENTS = [
    "wavg",
    "arg_max",
    "arg_min",
    "max_by",
    "corr",
    "covar_pop",
    "covar_samp",
    "regr_avgx",
    "regr_avgy",
    "regr_count",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "regr_sxx",
    "regr_sxy",
    "regr_syy",
    "multiply",
]
SAME_UNIT = [
    "greatest",
    "least",
    "gcd",
    "mod",
    "fmod",
    "atan2",
    "fdiv",
    "nullif",
    "add",
    "subtract",
]


def values(expression: str) -> list[float]:
    with duckdb.connect() as connection:
        rows = connection.execute(f"SELECT CAST({expression} AS DOUBLE) FROM {ROWS}").fetchall()
    return [math.nan if row[0] is None else row[0] for row in rows]


def check(name: str, coarse: list[str], fine: list[str]) -> None:
    """Call with quantities in coarse units and, converted, in fine units; the results must be the same quantity."""
    columns = ["x::DOUBLE", "y::DOUBLE"] if name not in {"gcd"} else ["x::BIGINT", "y::BIGINT"]
    results = []
    for texts in (coarse, fine):
        units = [parse_unit(text) for text in texts]
        unit, factors = result_unit(REGISTERED[name].rule, units, name)
        arguments = []
        for column, start, own, factor in zip(columns, coarse, units, factors, strict=False):
            scale = ratio(parse_unit(start), own) * factor
            arguments.append(f"({column} * {scale.numerator} / {scale.denominator})")
            if name == "gcd":
                arguments[-1] = f"CAST({arguments[-1]} AS BIGINT)"
        results.append([value * float(unit.factor) for value in values(f"{name}({', '.join(arguments)})")])
    assert results[0] == pytest.approx(results[1], rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_one_argument(name: str) -> None:
    check(name, ["s"], ["ms"])


@pytest.mark.parametrize("name", TWO_ARGUMENTS)
def test_two_arguments_of_their_own_units(name: str) -> None:
    check(name, ["MB", "s"], ["kB", "ms"])


@pytest.mark.parametrize("name", SAME_UNIT)
def test_two_arguments_of_the_same_dimension(name: str) -> None:
    check(name, ["s", "s"], ["s", "ms"])


def test_rules_that_change_units_are_all_covered() -> None:
    tested = {REGISTERED[name].rule for name in (*ONE_ARGUMENT, *TWO_ARGUMENTS, *SAME_UNIT)}
    structural = {UnitRule.BARE, UnitRule.CHOOSE, UnitRule.SHIFT, UnitRule.TIMES_NS, UnitRule.IN_BYTES}
    structural |= {UnitRule.POWER, UnitRule.BINS}
    structural |= {UnitRule.IN_SECONDS, UnitRule.IN_MILLISECONDS, UnitRule.IN_NANOSECONDS}
    assert set(UnitRule) - tested == structural
