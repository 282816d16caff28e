"""Return cells of tracks as an Arrow stream, for drawing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from dctv.errors import UsageError
from dctv.types.schema import TS
from dctv.web.arrow import as_stream
from dctv.web.shown_track import ShownTrack

_HALF = 2**31
MOST_CELLS = 4_000_000
"""More than any screen has; a request for more is an error."""


def tiles(tracks: Sequence[ShownTrack], start: int, stop: int, step: int) -> bytes:
    """Return the cells of tracks between two times, in ns, as in `Timeline.cells`.

    `track` is the index of the track in the list. Columns that are NULL in all rows are omitted, and integers that fit
    have 32 bits: a screen may have 100,000 cells.

    Raises:
        UsageError: the step is too small for the time range, or not positive, or a track comes twice.
    """
    import pyarrow as pa

    if len(set(tracks)) < len(tracks):
        raise UsageError("expected each track once")
    if step > 0 and (stop - start) // step * len(tracks) > MOST_CELLS:
        raise UsageError(f"{len(tracks)} tracks have more than {MOST_CELLS:,} cells of {step} ns between these times")
    found = [_placed(list(several), start, stop, step) for _, several in groupby(enumerate(tracks), _timeline)]
    if not found:
        raise UsageError("expected at least one track")
    table = pa.concat_tables(found).combine_chunks()
    columns = {name: _narrow(name, table.column(name)) for name in table.column_names}
    return as_stream(
        pa.table({name: one for name, one in columns.items() if one.null_count < len(one) or not len(one)})
    )


def _narrow(name: str, column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(column.type):
        return column.combine_chunks().dictionary_encode()
    if name == TS or column.type != pa.int64() or column.null_count == len(column):
        return column
    ends = pc.min_max(column).as_py()
    return column.cast(pa.int32()) if ends["min"] >= -_HALF and ends["max"] < _HALF else column


def _timeline(placed: tuple[int, ShownTrack]) -> int:
    return id(placed[1].timeline)


def _placed(tracks: Sequence[tuple[int, ShownTrack]], start: int, stop: int, step: int) -> Any:
    """Return the cells of tracks of one timeline with names as texts: its dictionaries hold those of a whole trace."""
    import numpy as np
    import pyarrow as pa

    timeline = tracks[0][1].timeline
    cells = timeline.cells([one.number for _, one in tracks], start, stop, step)
    places = np.zeros(len(timeline.tracks), np.int32)
    places[[one.number for _, one in tracks]] = [place for place, _ in tracks]
    tracks_of_rows = pa.array(places[cells.column("track").to_numpy()])
    cells = cells.set_column(cells.column_names.index("track"), "track", tracks_of_rows)
    return cells.set_column(cells.column_names.index("name"), "name", cells.column("name").cast(pa.string()))
