"""Numbers with units as texts: which unit a time is written in, and that no digit is lost."""

from __future__ import annotations

from decimal import Decimal

import pytest

from dctv.types.amounts import amount
from dctv.types.unit import NO_UNIT
from dctv.types.units import parse_unit


@pytest.mark.parametrize(
    ("number", "unit", "text"),
    [
        (11_000_000, "ns", "11ms"),
        (11_000_000_000, "ns", "11s"),
        (148_132_716, "ns", "148.132716ms"),
        (9_223_372_036_854_775_807, "ns", "9223372036.854775807s"),
        (-1500, "us", "-1.5ms"),
        (999, "ns", "999ns"),
        (1000, "ns", "1us"),
        (0, "ms", "0ms"),
        (0.0005, "s", "500us"),
        (0.25, "ns", "0.25ns"),
        (1_212_022.2551928784, "ns", "1.21202225519ms"),
        (Decimal("1234.50"), "ms", "1.2345s"),
        (float("nan"), "ns", "nan ns"),
        (float("-inf"), "s", "-inf s"),
        (90, "min", "90min"),
        (3, "KiB", "3KiB"),
        (1.5, "MiB/s", "1.5 MiB/s"),
        (2.0, "GHz", "2GHz"),
        (10**30, "B", f"{10**30}B"),
    ],
)
def test_amounts(number: float | Decimal, unit: str, text: str) -> None:
    assert amount(number, parse_unit(unit)) == text


def test_bare_numbers() -> None:
    assert [amount(n, NO_UNIT) for n in (3, 2.0, 0.1, Decimal("1.50"))] == ["3", "2", "0.1", "1.50"]
