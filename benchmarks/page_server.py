"""Serve a generated timeline: many spans in many tracks, written once, and mapped like the one of any index.

Each track has one to three lanes on which spans of all lengths stand close to each other from the begin to the end, so
that a track which is drawn empty is one that lacks its cells. Prints its address, and ends with its input.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

from dctv.catalog.listing import MountInfo
from dctv.session import Session
from dctv.timeline.gathering import FoundTrack, GatheredRows
from dctv.timeline.indexed import index
from dctv.timeline.space import Space
from dctv.timeline.stored import read, write
from dctv.timeline.timeline import Timeline
from dctv.timeline.track import TrackKind

LENGTH = 100_000_000_000
"""Of the whole, in ns."""
NAMES = 60
IDENTITY = b"generated"


class Showing(Session):
    """A session with one trace, which is a timeline."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def mounts(self) -> list[MountInfo]:
        """Return the one."""
        return [MountInfo("spans", str(self._path), "generated", 1)]

    def timeline(self, name: str) -> Timeline:
        """Map it."""
        return Timeline(read(self._path, IDENTITY), name)


def generate(path: Path, spans: int, tracks: int) -> None:
    """Write a timeline."""
    random = np.random.default_rng(spans)
    space = Space(path.parent)
    lanes = [1 + track % 3 for track in range(tracks)]
    counts = np.full(sum(lanes), spans // sum(lanes))
    offsets = np.concatenate([[0], np.cumsum(counts)])
    begin, duration = (space.array(int(offsets[-1]), "<i8") for _ in range(2))
    codes = space.array(int(offsets[-1]), "<i4")
    for lane, count in enumerate(counts):
        rows = slice(int(offsets[lane]), int(offsets[lane + 1]))
        periods = random.exponential(LENGTH / count, count) + 2
        starts = np.cumsum(periods).astype(np.int64)
        begin[rows] = starts
        duration[rows] = np.maximum((periods * random.uniform(0.4, 1, count)).astype(np.int64) - 1, 1)
        duration[rows][:-1] = np.minimum(duration[rows][:-1], np.diff(starts))
        codes[rows] = random.integers(0, NAMES, count)
    firsts = np.concatenate([[0], np.cumsum(lanes)]).tolist()
    found = tuple(
        FoundTrack(("Spans", f"Track {track}"), (None, track), TrackKind.SLICES, None, firsts[track], lanes[track])
        for track in range(tracks)
    )
    names = pa.array([f"work_{number}" for number in range(NAMES)])
    rows_of_all = GatheredRows("generated", found, begin, duration, offsets, codes, names, None)
    write(path, IDENTITY, [index(rows_of_all, space)])


def main() -> None:
    """Serve until the input ends."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the timeline is kept")
    parser.add_argument("--spans", type=float, default=1e8)
    parser.add_argument("--tracks", type=int, default=200)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    path = args.folder / f"page-{int(args.spans)}-{args.tracks}.timeline"
    if not path.exists():
        generate(path, int(args.spans), args.tracks)
    with Showing(path) as session, session.serve() as serving:
        print(serving.address, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
