"""Build a timeline of states of attributes: a track for each attribute that has states, in the attributes' tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dctv.timeline.gathering import FoundTrack, GatheredRows
from dctv.timeline.indexed import index
from dctv.timeline.space import Space
from dctv.timeline.timeline import Timeline
from dctv.timeline.track import TrackKind


def timeline_of_states(rows: Any, path: Callable[[int], tuple[str, ...]], source: str) -> Timeline:
    """Build a timeline from the rows of a pyarrow Table: `_ts`, `_duration`, `quark`, `number`, `real` and `text`.

    Attributes with real numbers are counters, others are states; rows without any of the three have no state.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    names = pc.coalesce(rows["text"], rows["number"].cast(pa.string()))
    rows = rows.append_column("name", names)
    rows = rows.filter(pc.or_(pc.is_valid(names), pc.is_valid(rows["real"])))
    if not rows.num_rows:
        return Timeline()
    quarks, begins = (rows[name].to_numpy() for name in ("quark", "_ts"))
    counted = np.unique(quarks[pc.is_valid(rows["real"]).to_numpy(zero_copy_only=False)])
    # Counters come first, as the index of rows requires.
    order = np.lexsort((begins, quarks, ~np.isin(quarks, counted)))
    rows, quarks = rows.take(order), quarks[order]
    first = np.concatenate([[0], np.flatnonzero(np.diff(quarks)) + 1])
    offsets = np.append(first, len(quarks))
    tracks = []
    for lane, quark in enumerate(quarks[first].tolist()):
        kind = TrackKind.COUNTER if lane < len(counted) else TrackKind.STATES
        names = path(quark)
        tracks.append(FoundTrack(names, (None,) * len(names), kind, None, lane, 1))
    codes = rows["name"].combine_chunks().dictionary_encode()
    gathered = GatheredRows(
        source,
        tuple(tracks),
        rows["_ts"].to_numpy(),
        rows["_duration"].to_numpy(),
        offsets,
        codes.indices.fill_null(-1).to_numpy().astype(np.int32),
        codes.dictionary,
        rows["real"].fill_null(float("nan")).to_numpy() if len(counted) else None,
    )
    return Timeline([index(gathered, Space.in_memory())])
