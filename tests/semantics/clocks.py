"""Spread small times over 64 bits, in the same order."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import strategies as st

from tests.semantics.oracle import END, Spans, in_order

LAST = 2**63 - 1
"""The last time there is."""

Clock = tuple[int, ...]
"""The time that each small time from 0 to END stands for, rising."""

_STEPS = st.sampled_from([1, 1, 2, 1000, 2**31, 2**32 + 1, 10**15, 2**53 + 1])


@st.composite
def clocks(draw: st.DrawFn, longest: int = LAST) -> Clock:
    """Draw a clock that runs for at most so long: near either end of the times there are, in ns, in huge steps."""
    steps = draw(st.lists(_STEPS, min_size=END, max_size=END))
    if draw(st.booleans()):
        steps[draw(st.integers(0, END - 1))] += longest - sum(steps)
    length = sum(steps)
    starts = [0, -1, -length, LAST - length, -(LAST + 1), -(length // 2)]
    start = draw(st.sampled_from([s for s in starts if s + length <= LAST]))
    return tuple(accumulate(steps, initial=start))


def rows_at(table: Spans, clock: Clock) -> list[tuple[object, ...]]:
    """Return the rows of a table at other times as SELECT SPAN shows them, sorted."""
    return in_order(
        (clock[start], clock[stop] - clock[start], *key, v)
        for key, spans in table.spans.items()
        for start, stop, v in spans
    )
