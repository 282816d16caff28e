"""Numbers of repeated runs to how sure it is that they differ (with scipy), and by how much; the same each time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import comb, isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

from dctv.errors import UsageError

if TYPE_CHECKING:
    import numpy as np

Sample = Sequence[float]
Pair = tuple[Sample, Sample]
Interval = tuple[float, float] | tuple[None, None]
Numbers: TypeAlias = "np.ndarray[Any, Any]"

CONFIDENCE = 0.95
_RESAMPLES = 9_999
_SEED = 20_261_125
_ROWS = 200
"""Pairs that are resampled at once, which take 80 MB."""
_EXACT = 8
"""So many runs of the smaller side have exact p-values, if no two are equal: as `scipy` chooses for one pair."""


def is_there() -> bool:
    """Whether there is what computes p-values."""
    try:
        import scipy.stats
    except ImportError:
        return False
    return bool(scipy.stats)


def missing(what: str) -> UsageError:
    """Return the error for something that cannot be done without it."""
    return UsageError(f"{what} requires scipy, which is not installed", hint="pip install 'dctv[compare]'")


def least_p(a: int, b: int) -> float:
    """Return the least p-value that so many runs can have: that of sides of which one is above the other."""
    return min(2 / comb(a + b, a), 1.0)


def p_values(pairs: Sequence[Pair]) -> list[float | None]:
    """Return how likely it is that runs of one kind differ as much as these: Mann-Whitney U, two-sided.

    It is exact for up to eight runs of which no two are equal, else approximate. None where a side has fewer than two
    runs, or a number is not finite.
    """
    found: list[float | None] = [1.0 if _testable(pair) else None for pair in pairs]
    different = [i for i, (a, b) in enumerate(pairs) if found[i] is not None and len({*a, *b}) > 1]
    for (*_, method), numbers in _groups(different, lambda i: (*map(len, pairs[i]), _method(pairs[i]))).items():
        from scipy.stats import mannwhitneyu

        samples = (_stacked(pairs, numbers, side) for side in (0, 1))
        values = mannwhitneyu(*samples, alternative="two-sided", axis=-1, method=method).pvalue
        for number, value in zip(numbers, values, strict=True):
            found[number] = float(value)
    return found


def intervals(pairs: Sequence[Pair]) -> list[Interval]:
    """Return between which bounds the change from the median of one side to that of the other is, by resampling.

    Bounds are those of 95 % of the resamples, as parts of the first side's median. None where a side has fewer than two
    runs, where a number is not finite, or where numbers of the first side are 0 or have different signs.
    """
    found: list[Interval] = [(None, None)] * len(pairs)
    chosen = [i for i, pair in enumerate(pairs) if _testable(pair) and (min(pair[0]) > 0 or max(pair[0]) < 0)]
    for (a, b), numbers in _groups(chosen, lambda i: tuple(map(len, pairs[i]))).items():
        middles = _middles(a, b)
        for start in range(0, len(numbers), _ROWS):
            part = numbers[start : start + _ROWS]
            for number, bounds in zip(part, _bounds(pairs, part, middles), strict=True):
                found[number] = bounds
    return found


def _testable(pair: Pair) -> bool:
    return all(len(side) > 1 and all(map(isfinite, side)) for side in pair)


def _method(pair: Pair) -> str:
    a, b = pair
    few = min(len(a), len(b)) <= _EXACT
    return "exact" if few and len({*a, *b}) == len(a) + len(b) else "asymptotic"


def _groups(numbers: Iterable[int], key: Callable[[int], Any]) -> dict[Any, list[int]]:
    found: dict[Any, list[int]] = {}
    for number in numbers:
        found.setdefault(key(number), []).append(number)
    return found


def _stacked(pairs: Sequence[Pair], numbers: Sequence[int], side: int) -> Numbers:
    import numpy as np

    return np.array([pairs[number][side] for number in numbers], dtype=float)


def _middles(a: int, b: int) -> list[tuple[Numbers, Numbers]]:
    """Draw runs of both sides again and again; return which of the sorted runs are in the middle of each draw.

    A draw's median is the run whose place is the median of the places that were drawn, so that all pairs of so many
    runs share the draws, and nothing but places is ever sorted. Of an even number two are in the middle.
    """
    import numpy as np

    rng = np.random.default_rng(_SEED)
    found = []
    for count in (a, b):
        places = np.sort(rng.integers(0, count, (_RESAMPLES, count)), axis=-1)
        found.append((places[:, (count - 1) // 2], places[:, count // 2]))
    return found


def _bounds(
    pairs: Sequence[Pair], numbers: Sequence[int], middles: Sequence[tuple[Numbers, Numbers]]
) -> list[tuple[float, float]]:
    import numpy as np

    medians = []
    for side, (low, high) in enumerate(middles):
        ordered = np.sort(_stacked(pairs, numbers, side), axis=-1)
        medians.append(ordered[:, low] / 2 + ordered[:, high] / 2)
    base, other = medians
    tail = (1 - CONFIDENCE) / 2
    bounds = np.quantile((other - base) / np.abs(base), (tail, 1 - tail), axis=-1)
    return [(float(low), float(high)) for low, high in zip(*bounds, strict=True)]
