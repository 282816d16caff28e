"""Pint reads units.txt and finds the same sizes and dimensions under every name."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pint
import pytest

from dctv.resources import root
from dctv.types.units import known_units, parse_unit

Registry = pint.UnitRegistry[Any]


@pytest.fixture(scope="module")
def registry() -> Registry:
    return pint.UnitRegistry(str(root() / "units.txt"), non_int_type=Fraction)


def test_every_name_agrees(registry: Registry) -> None:
    names = known_units()
    assert len(names) > 1000
    for name in names:
        unit = parse_unit(name)
        factor, _ = registry.get_base_units(name)
        assert isinstance(factor, (int, Fraction)), name
        assert factor == unit.factor, name
        measured = {key.strip("[]"): Fraction(str(own)) for key, own in registry.get_dimensionality(name).items()}
        assert measured == dict(unit.dimensions), name


@pytest.mark.parametrize(
    "text", ["miles/hour", "m/s**2", "kB*s", "1/s", "W/(m*K)", "MiB/ms", "kWh/day", "ns**3", "s^0.5"]
)
def test_expressions_agree(registry: Registry, text: str) -> None:
    unit = parse_unit(text)
    quantity = registry.Quantity(Fraction(1), text).to_base_units()
    assert quantity.magnitude == unit.factor
    printed = registry.Quantity(Fraction(1), str(unit)).to_base_units()
    assert printed == quantity


def test_every_unit_reads_back_from_its_symbol() -> None:
    for name in known_units():
        unit = parse_unit(name)
        assert parse_unit(str(unit)) == unit, name
