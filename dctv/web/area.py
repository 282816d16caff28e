"""An area of the page, a time range on some tracks, and its parts in the time of each trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from dctv.errors import UsageError
from dctv.record import field, record
from dctv.web.shown_track import ShownTrack
from dctv.web.track_queries import by_timeline


@record
class Area:
    """Tracks, and a range from `start` to before `stop`, in ns.

    Raises:
        UsageError: the times are in the wrong order.
    """

    tracks: Sequence[ShownTrack]
    start: int
    stop: int
    moved: Mapping[str, int] = field(default_factory=dict)
    """By how many ns the page shows mounted traces later than they were."""

    def __post_init__(self) -> None:
        if self.stop < self.start:
            raise UsageError(f"`to`, {self.stop} ns, comes before `from`, {self.start} ns")

    def having(self, fits: Callable[[ShownTrack], bool]) -> Area:
        """Return the area of the tracks that fit."""
        return Area([one for one in self.tracks if fits(one)], self.start, self.stop, self.moved)

    def parts(self) -> Iterator[Area]:
        """Yield the area on the tracks of each timeline, in order of their numbers, in the times of its rows."""
        for own in by_timeline(self.tracks):
            by = self.moved.get(own[0].mount or "", 0)
            yield Area(own, self.start - by, self.stop - by)
