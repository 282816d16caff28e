"""Units are read, printed, multiplied and converted as units.cases says, and obey the laws of an algebra."""

from __future__ import annotations

import pickle
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dctv.errors import UnitError
from dctv.types.unit import NO_UNIT, Unit
from dctv.types.units import (
    base_unit,
    compatible,
    divide,
    finer,
    is_bare,
    known_units,
    multiply,
    parse_unit,
    power,
    ratio,
    rooted,
)

CASES = [
    line
    for line in Path(__file__).with_name("units.cases").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


def result(text: str) -> str:
    """Compute the left side of a case."""
    for sign, combine in ((" * ", multiply), (" / ", divide)):
        if sign in text:
            left, right = text.split(sign)
            unit, factor = combine(parse_unit(left), parse_unit(right))
            return f"{factor} {unit}".strip()
    if " IN " in text:
        left, right = text.split(" IN ")
        return str(ratio(parse_unit(left), parse_unit(right)))
    return str(parse_unit(text))


@pytest.mark.parametrize("case", CASES)
def test_case(case: str) -> None:
    left, mark, right = case.partition(" ! ")
    if mark:
        with pytest.raises(UnitError) as caught:
            result(left)
        hint = f" | {caught.value.hint}" if caught.value.hint else ""
        assert caught.value.message + hint == right
    else:
        left, _, right = case.rpartition(" = ")
        assert result(left) == right


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Draw an expression over names of units."""
    text = draw(st.sampled_from(known_units()))
    for _ in range(draw(st.integers(0, 3))):
        sign = draw(st.sampled_from("*/"))
        name = draw(st.sampled_from(known_units()))
        exponent = draw(st.sampled_from(["", "", "^2", "^-1", "²", "**3"]))
        text += sign + name + exponent
    return text


units = texts().map(parse_unit)


@given(texts())
def test_printed_unit_reads_back(text: str) -> None:
    unit = parse_unit(text)
    assert (parse_unit(str(unit)) if unit.symbols else NO_UNIT) == unit


@given(units, units)
def test_product_keeps_size_and_dimensions(a: Unit, b: Unit) -> None:
    product, factor = multiply(a, b)
    assert product.factor * factor == a.factor * b.factor
    assert multiply(b, a)[0].dimensions == product.dimensions


@given(units, units)
def test_division_undoes_multiplication(a: Unit, b: Unit) -> None:
    product, factor = multiply(a, b)
    quotient, back = divide(product, b)
    assert quotient.dimensions == a.dimensions
    assert factor * back * quotient.factor == a.factor


@given(units)
def test_quotient_of_a_unit_by_itself_is_bare(a: Unit) -> None:
    assert divide(a, a) == (NO_UNIT, Fraction(1))


@given(units)
def test_base_unit_is_compatible_and_of_size_one(a: Unit) -> None:
    assume(a.dimensions)
    assert compatible(a, base_unit(a))
    assert base_unit(a).factor == 1


@given(units, st.integers(1, 4))
def test_root_undoes_power(a: Unit, degree: int) -> None:
    assume(not is_bare(a))
    assert power(power(a, Fraction(degree)), Fraction(1, degree)) == a
    assert rooted(power(a, Fraction(degree)), degree) == (a, Fraction(1))


@given(units, st.data())
def test_ratio_is_transitive(rest: Unit, data: st.DataObject) -> None:
    kinds = [parse_unit(n) for n in ("ms", "week", "min", "J", "kW*s", "MiB", "b", "in", "nmi", "kHz", "1/h")]
    start = data.draw(st.sampled_from(kinds))
    same = [u for u in kinds if compatible(start, u)]
    a, b, c = (multiply(data.draw(st.sampled_from(same)), rest)[0] for _ in range(3))
    assert ratio(a, b) * ratio(b, c) == ratio(a, c)
    assert ratio(a, finer(a, b)) >= 1
    assert ratio(b, finer(a, b)) >= 1


def test_a_bare_number_fits_only_itself() -> None:
    assert compatible(NO_UNIT, NO_UNIT)
    assert not compatible(NO_UNIT, parse_unit("ms/s"))
    assert not compatible(NO_UNIT, parse_unit("percent"))
    assert not compatible(parse_unit("B"), NO_UNIT)
    assert multiply(NO_UNIT, parse_unit("ns")) == (parse_unit("ns"), Fraction(1))
    assert str(divide(NO_UNIT, parse_unit("ns"))[0]) == "1/ns"
    assert str(NO_UNIT) == ""


def test_of_equal_sizes_the_first_is_kept() -> None:
    assert str(finer(parse_unit("W*s"), parse_unit("J"))) == "W*s"
    assert str(finer(parse_unit("J"), parse_unit("W*s"))) == "J"


def test_inexact_root_is_taken_in_base_units() -> None:
    unit, factor = rooted(parse_unit("ns"), 2)
    assert (str(unit), factor) == ("s^(1/2)", Fraction(1, 10**9))


def test_powers_do_not_grow_without_bound() -> None:
    unit = parse_unit("ns^64")
    with pytest.raises(UnitError, match="power 128 is beyond"):
        multiply(unit, unit)
    with pytest.raises(UnitError, match="power 4096 is beyond"):
        power(unit, Fraction(64))


def test_hostile_text_is_refused() -> None:
    with pytest.raises(UnitError, match="too long"):
        parse_unit("(" * 100_000)
    with pytest.raises(UnitError, match="not readable"):
        parse_unit("(" * 200)


def test_the_algebra_needs_no_heavy_module() -> None:
    program = (
        "import sys; from dctv.types.units import parse_unit; parse_unit('mi/h'); "
        "print(sorted({'pint', 'duckdb', 'pyarrow', 'numpy'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("text", ["", "ns", "kB/s", "GHz", "pages", "1/s", "MiB/ms^2"])
def test_units_of_other_processes_are_shared(text: str) -> None:
    unit = parse_unit(text) if text else NO_UNIT
    first, second = pickle.loads(pickle.dumps(unit)), pickle.loads(pickle.dumps(unit))
    assert first is second
    assert (first, str(first), hash(first)) == (unit, str(unit), hash(unit))
