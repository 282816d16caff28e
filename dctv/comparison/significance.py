"""Compute the significance (with scipy) and the interval of changes between repeated runs, reproducibly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import comb, erfc, isfinite, sqrt
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
"""Up to this many runs of the smaller side have exact p-values."""
_EXACT_TIED = 50
"""If numbers occur twice, so many runs of both sides: ways to share them out are counted for each pattern of ties."""
_TIED = "tied"
_ASYMPTOTIC = "asymptotic"


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
    """Return the minimum p-value for these numbers of runs: that of sides without overlap, whose numbers all differ."""
    if min(a, b) > _EXACT:
        # Of the normal distribution that is used for so many, with its correction for continuity.
        return erfc((a * b - 1) / 2 / sqrt(a * b * (a + b + 1) / 6))
    return min(2 / comb(a + b, a), 1.0)


def p_values(pairs: Sequence[Pair]) -> list[float | None]:
    """Return the probability that runs of one distribution differ as much as these: Mann-Whitney U, two-sided.

    It is exact if a side has up to eight runs, unless numbers occur twice among more than fifty. None if a side has
    fewer than two runs, or a number is not finite.
    """
    found: list[float | None] = [1.0 if _testable(pair) else None for pair in pairs]
    different = [i for i, (a, b) in enumerate(pairs) if found[i] is not None and len({*a, *b}) > 1]
    tied = {i for i in different if _method(pairs[i]) == _TIED}
    for number in tied:
        found[number] = _p_of_tied(pairs[number])
    others = [i for i in different if i not in tied]
    for (*_, method), numbers in _groups(others, lambda i: (*map(len, pairs[i]), _method(pairs[i]))).items():
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
    count = sum(map(len, pair))
    if min(map(len, pair)) > _EXACT:
        return _ASYMPTOTIC
    if len({*pair[0], *pair[1]}) == count:
        return "exact"
    return _TIED if count <= _EXACT_TIED else _ASYMPTOTIC


def _p_of_tied(pair: Pair) -> float:
    """Return the part of all ways to share out the runs that differ at least as much as this one.

    `scipy` approximates these by a normal distribution, whose p-values for few runs are lower than any way can reach.
    """
    few, many = sorted(pair, key=len)
    counts = sorted(Counter((*few, *many)).items())
    ranks, below = {}, 0
    for number, times in counts:
        ranks[number] = 2 * below + times + 1
        below += times
    at_most, at_least = _parts(tuple(times for _, times in counts), len(few))
    found = sum(ranks[number] for number in few)
    return float(min(2 * min(at_most[found], at_least[found]), 1.0))


@lru_cache(maxsize=256)
def _parts(times: tuple[int, ...], size: int) -> tuple[Numbers, Numbers]:
    """Return which part of all samples of some runs has at most, and at least, each sum of ranks, doubled.

    `times` is how often each number occurs, from the lowest to the highest.
    """
    import numpy as np

    ways = np.zeros((size + 1, size * 2 * sum(times) + 1))
    ways[0, 0] = 1
    below = 0
    for same in times:
        rank = 2 * below + same + 1
        below += same
        for _ in range(same):
            ways[1:, rank:] += ways[:-1, :-rank]
    parts = ways[size] / comb(below, size)
    return np.cumsum(parts), np.cumsum(parts[::-1])[::-1]


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
    # The change from a number near 0 may be infinite.
    with np.errstate(over="ignore"):
        bounds = np.quantile((other - base) / np.abs(base), (tail, 1 - tail), axis=-1)
    return [(float(low), float(high)) for low, high in zip(*bounds, strict=True)]
