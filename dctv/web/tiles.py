"""Cells of tracks as an Arrow stream: what the page draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dctv.errors import UsageError
from dctv.web.arrow import as_stream
from dctv.web.shown_track import Shown

MOST_CELLS = 4_000_000
"""More than any screen has; a request for more is a mistake."""


def tiles(tracks: Sequence[Shown], start: int, stop: int, step: int) -> bytes:
    """Return the cells of tracks between two times, in ns: those of `Timeline.cells`.

    `track` is the place of the track in the list.

    Raises:
        UsageError: the step is too small for the time, or not more than 0.
    """
    import pyarrow as pa

    if step > 0 and (stop - start) // step * len(tracks) > MOST_CELLS:
        raise UsageError(f"{len(tracks)} tracks have more than {MOST_CELLS:,} cells of {step} ns between these times")
    found = [_of_track(place, one.timeline.cells([one.number], start, stop, step)) for place, one in enumerate(tracks)]
    if not found:
        raise UsageError("expected at least one track")
    table = pa.concat_tables(found)
    names = table.column("name").combine_chunks().dictionary_encode()
    return as_stream(table.set_column(table.column_names.index("name"), "name", names))


def _of_track(place: int, cells: Any) -> Any:
    """Return the cells of a track with names as texts: its dictionary holds the names of a whole trace."""
    import pyarrow as pa

    place_of_all = pa.repeat(pa.scalar(place, pa.int32()), cells.num_rows)
    cells = cells.set_column(cells.column_names.index("track"), "track", place_of_all)
    names = cells.column("name").cast(pa.string())
    return cells.set_column(cells.column_names.index("name"), "name", names)
