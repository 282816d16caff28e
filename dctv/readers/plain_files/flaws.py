"""Remove rows of plain tables with impossible times, and count them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dctv.record import record
from dctv.types.schema import TS

_LIMIT = 1 << 62
"""The latest time or end, in ns: differences of larger times may overflow 64 bits."""


@record(frozen=False)
class Flaws:
    """Counts of faults in a table."""

    untimed: int = 0
    """Rows without a time."""
    rounded: int = 0
    """Times with a fraction of a ns, in no unit."""
    far: int = 0
    """Rows whose time is beyond the limit."""
    long: int = 0
    """Durations that are negative, or end beyond the limit."""
    unread: int = 0
    """Durations that are not numbers."""
    json: int = 0
    """Values that should be JSON and are not."""

    def reasons(self, table: str) -> Iterator[tuple[str, int]]:
        """Yield reasons and counts."""
        reasons = {
            f"row of {table} has no time": self.untimed,
            f"time of a row of {table} has a fraction of a ns, rounded": self.rounded,
            f"time of a row of {table} is too far away, left out": self.far,
            f"duration of a row of {table} is negative or too long, read as NULL": self.long,
            f"duration of a row of {table} is not a number, read as NULL": self.unread,
            f"value of {table} is not JSON, read as NULL": self.json,
        }
        yield from ((reason, count) for reason, count in reasons.items() if count)


def possible(batch: Any, flaws: Flaws) -> Any:
    """Return the rows of a batch with possible times, with NULL for impossible durations."""
    import pyarrow as pa
    from pyarrow import compute

    timed = batch.filter(batch.column(TS).is_valid())
    flaws.untimed += len(batch) - len(timed)
    times = timed.column(TS)
    near = compute.and_(compute.greater_equal(times, -_LIMIT), compute.less_equal(times, _LIMIT))
    kept = timed.filter(near)
    flaws.far += len(timed) - len(kept)
    if "dur" not in kept.schema.names:
        return kept
    place = kept.schema.get_field_index("dur")
    lengths = kept.column(place)
    # The remaining range after a time is never negative, so the subtraction cannot overflow.
    room = compute.subtract(pa.scalar((1 << 63) - 1, pa.int64()), compute.max_element_wise(kept.column(TS), 0))
    good = compute.and_(compute.greater_equal(lengths, 0), compute.less_equal(lengths, compute.subtract(room, _LIMIT)))
    bad = compute.fill_null(compute.invert(good), fill_value=False)
    shown = compute.if_else(bad, pa.scalar(None, pa.int64()), lengths)
    flaws.long += shown.null_count - lengths.null_count
    return kept.set_column(place, kept.schema.field(place), shown)
