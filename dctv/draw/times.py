"""Format times in ns for reading, and compute the ticks of a ruler."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

from dctv.record import record

_SECOND = 10**9
_DECIMAL = (("s", _SECOND), ("ms", 10**6), ("us", 10**3), ("ns", 1))
_LONG = (("d", 86400 * _SECOND), ("h", 3600 * _SECOND), ("min", 60 * _SECOND))
_MOST = 512
"""The maximum number of ticks on a ruler."""


@record
class Tick:
    """A mark on a ruler."""

    time: int
    """In ns."""
    label: str


def exact_time(time: int) -> str:
    """Format a time with all its digits: `1.000000001 s`."""
    name, size = _unit(abs(time))
    return _decimal(time, size, 9, trimmed=True) + f" {name}"


def brief_time(time: int) -> str:
    """Format a time with about four digits: `1.235 ms`, `2.5 h`."""
    for name, size in (*_LONG, *_DECIMAL):
        if abs(time) >= (2 * size if (name, size) in _LONG else size):
            value = time / size
            return f"{value:,.0f} {name}" if abs(value) >= 1000 else f"{value:.4g} {name}"
    return f"{time} ns"


def ticks(start: int, stop: int, zero: int, width: float, measure: Callable[[str], float]) -> list[Tick]:
    """Return the ticks of a ruler, far enough apart that no label reaches the next tick.

    Args:
        start: the begin of the ruler, in ns.
        stop: its end.
        zero: the time that is shown as 0.
        width: the width of the ruler in pixels.
        measure: returns the width of a label.
    """
    for step in _steps():
        if (stop - start) // step > _MOST:
            continue
        first = start + (zero - start) % step
        label = _labels(step, max(abs(start - zero), abs(stop - zero)))
        widest = max(measure(label(time - zero)) for time in (first, stop - (stop - first) % step))
        if step * width >= widest * (stop - start) or step > stop - start:
            return [Tick(time, label(time - zero)) for time in range(first, stop + 1, step)]
    raise AssertionError  # Steps are unbounded.


def _steps() -> Iterator[int]:
    """Yield 1, 2, 5, 10, ... of ns to 20 s, then of minutes, hours and days."""
    for power in range(11):
        for digit in (1, 2, 5):
            if digit * 10**power <= 20 * _SECOND:
                yield digit * 10**power
    for size, digits in ((_LONG[2][1], (1, 2, 5, 10, 20)), (_LONG[1][1], (1, 2, 5, 10))):
        for digit in digits:
            yield digit * size
    for power in count():
        for digit in (1, 2, 5):
            yield digit * 10**power * _LONG[0][1]


def _labels(step: int, largest: int) -> Callable[[int], str]:
    """Return a formatter for multiples of a step: all in one unit, with the digits that distinguish them."""
    name, size = next(((name, size) for name, size in _LONG if step % size == 0), _unit(largest))
    digits = next(digits for digits in range(10) if step * 10**digits % size == 0)
    return lambda time: f"{_decimal(time, size, digits)} {name}" if time else "0"


def _unit(largest: int) -> tuple[str, int]:
    return next(((name, size) for name, size in _DECIMAL if largest >= size), _DECIMAL[-1])


def _decimal(value: int, size: int, digits: int, *, trimmed: bool = False) -> str:
    """Format a quotient without floats, truncated to the digits."""
    whole, rest = divmod(abs(value), size)
    decimals = str(rest * 10**digits // size).rjust(digits, "0") if digits else ""
    if trimmed:
        decimals = decimals.rstrip("0")
    return f"{'-' if value < 0 else ''}{whole:,}{'.' if decimals else ''}{decimals}"
