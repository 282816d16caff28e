"""Numbers of repeated runs to how sure it is that they differ, and by how much: with scipy, the same each time."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, isfinite
from typing import TYPE_CHECKING, Any

from dctv.errors import UsageError

if TYPE_CHECKING:
    import numpy as np

Sample = Sequence[float]
Pair = tuple[Sample, Sample]

CONFIDENCE = 0.95
_RESAMPLES = 9_999
_SEED = 20_261_125
_CELLS = 5_000_000
"""Numbers that are resampled at once, which take 40 MB."""


def is_there() -> bool:
    """Whether there is what computes it."""
    try:
        import scipy.stats
    except ImportError:
        return False
    return bool(scipy.stats)


def missing(what: str) -> UsageError:
    """Return the error for something that cannot be done without it."""
    return UsageError(f"{what} takes scipy, which is not installed", hint="pip install 'dctv[compare]'")


def least_p(a: int, b: int) -> float:
    """Return the least p-value that so many runs can have: that of sides of which one is above the other."""
    return min(2 / comb(a + b, a), 1.0)


def p_value(pair: Pair) -> float | None:
    """Return how likely it is that runs of one kind differ as much as these: Mann-Whitney U, two-sided.

    None where a side has fewer than two runs, or a number is not finite.
    """
    a, b = pair
    if not _testable(pair):
        return None
    if len({*a, *b}) == 1:
        return 1.0
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(a, b, alternative="two-sided").pvalue)


def intervals(pairs: Sequence[Pair]) -> list[tuple[float, float] | None]:
    """Return between which bounds the change from the median of one side to that of the other is, by resampling.

    Bounds are those of 95 % of the resamples, as parts of the first side's median. None where a side has fewer than two
    runs, where a number is not finite, or where numbers of the first side are 0 or have different signs.
    """
    found: list[tuple[float, float] | None] = [None] * len(pairs)
    groups: dict[tuple[int, int], list[int]] = {}
    for number, pair in enumerate(pairs):
        if _testable(pair) and (min(pair[0]) > 0 or max(pair[0]) < 0):
            groups.setdefault((len(pair[0]), len(pair[1])), []).append(number)
    for (a, b), numbers in groups.items():
        many = max(_CELLS // (_RESAMPLES * (a + b)), 1)
        for start in range(0, len(numbers), many):
            chosen = numbers[start : start + many]
            for number, bounds in zip(chosen, _bounds([pairs[number] for number in chosen]), strict=True):
                found[number] = bounds
    return found


def _testable(pair: Pair) -> bool:
    return all(len(side) > 1 and all(map(isfinite, side)) for side in pair)


def _bounds(pairs: Sequence[Pair]) -> list[tuple[float, float]]:
    """Return the bounds of pairs with the same numbers of runs: all are resampled by the same random places."""
    import numpy as np
    from scipy.stats import bootstrap

    samples = tuple(np.array([pair[side] for pair in pairs], dtype=float) for side in (0, 1))
    found = bootstrap(
        samples,
        _change,
        axis=-1,
        vectorized=True,
        confidence_level=CONFIDENCE,
        n_resamples=_RESAMPLES,
        method="percentile",
        rng=np.random.default_rng(_SEED),
    ).confidence_interval
    return [(float(low), float(high)) for low, high in zip(found.low, found.high, strict=True)]


def _change(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], axis: int) -> Any:
    import numpy as np

    base = np.median(a, axis=axis)
    return (np.median(b, axis=axis) - base) / np.abs(base)
