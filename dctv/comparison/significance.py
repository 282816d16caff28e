"""Compute the significance (with scipy) and the interval of changes between repeated runs, reproducibly."""

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
"""The number of pairs that are resampled at once, which take 80 MB."""
_EXACT = 8
"""Up to this many runs of the smaller side have exact p-values, without ties: as `scipy` chooses for one pair."""


def is_available() -> bool:
    """Whether scipy is installed."""
    try:
        import scipy.stats
    except ImportError:
        return False
    return bool(scipy.stats)


def missing(what: str) -> UsageError:
    """Return the error for something that requires scipy."""
    return UsageError(f"{what} requires scipy, which is not installed", hint="pip install 'dctv[compare]'")


def least_p(a: int, b: int) -> float:
    """Return the minimum p-value for these numbers of runs: that of sides without overlap."""
    return min(2 / comb(a + b, a), 1.0)


def p_values(pairs: Sequence[Pair]) -> list[float | None]:
    """Return the probability that runs of one distribution differ as much as these: Mann-Whitney U, two-sided.

    It is exact for up to eight runs without ties, else approximate. None if a side has fewer than two runs, or a number
    is not finite.
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
    """Return confidence intervals of the change from the median of one side to that of the other, by resampling.

    Bounds contain 95 % of the resamples, relative to the first side's median. None if a side has fewer than two runs,
    if a value is not finite, or if values of the first side are 0 or have different signs.
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
    """Resample both sides repeatedly; return the index of the middle run among the sorted ones for each sample.

    A sample's median is the run at the median of the sampled indexes, so that all pairs with these numbers of runs
    share the samples, and only indexes are sorted. For an even number there are two middle runs.
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
