"""A track as requests name it."""

from __future__ import annotations

from dctv.record import record
from dctv.timeline.timeline import Timeline
from dctv.timeline.track import Track


@record
class ShownTrack:
    """A track of a timeline that the page shows."""

    name: str
    """The timeline's: that of a mount, or `query_1` of a SELECT."""
    timeline: Timeline
    number: int
    select: str | None = None
    """What gave its rows, if a SELECT did."""
    mount: str | None = None
    called: str | None = None
    """The column of the SELECT that names rows, and that of a counter's values, where they were told."""
    value: str | None = None

    @property
    def id(self) -> str:
        """What requests call it."""
        return f"{self.name}:{self.number}"

    @property
    def track(self) -> Track:
        """What the timeline says of it."""
        return self.timeline.tracks[self.number]
