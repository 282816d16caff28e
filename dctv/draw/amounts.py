"""Format values of counters with their units: bytes as KiB, MiB, GiB, frequencies as kHz, MHz, GHz."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import isfinite

from dctv.draw.letters import cleaned
from dctv.draw.times import brief_time
from dctv.errors import UnitError
from dctv.types.units import compatible, parse_unit, ratio

_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = ("", "k", "M", "G", "T", "P", "E")


def amount(value: float, unit: str | None, digits: int = 4) -> str:
    """Format a value: `1.5 GiB`, `2.4 GHz`, `37 %`, `12,345`."""
    if not isfinite(value):
        return str(value)
    base, factor = _base(unit)
    size = value * factor
    if base == "B":
        return _prefixed(size, 1024, _BINARY, base, digits)
    if base == "Hz":
        return _prefixed(size, 1000, _DECIMAL, base, digits)
    if base == "ns" and abs(size) < 2**63:
        return brief_time(round(size))
    number = _number(value, digits)
    return f"{number} {cleaned(unit)}" if unit else number


@lru_cache(maxsize=256)
def _base(unit: str | None) -> tuple[str, float]:
    """Return the unit for display, and the factor of values."""
    if not unit:
        return "", 1.0
    try:
        found = parse_unit(unit)
        for base in ("B", "Hz", "ns"):
            other = parse_unit(base)
            if compatible(found, other):
                return base, float(ratio(found, other))
    except UnitError:
        pass
    return "", 1.0


def _prefixed(size: float, times: int, prefixes: Sequence[str], unit: str, digits: int) -> str:
    place = 0
    while abs(size) >= times and place < len(prefixes) - 1:
        size /= times
        place += 1
    return f"{_number(size, digits)} {prefixes[place]}{unit}"


def _number(value: float, digits: int) -> str:
    if abs(value) >= 1e9 or 0 < abs(value) < 1e-4:
        return f"{value:.{digits}g}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:g}" if rounded else "0"
