"""Tracks under the names that requests use."""

from __future__ import annotations

from dctv.record import record
from dctv.timeline.timeline import Timeline
from dctv.timeline.track import Track


@record
class ShownTrack:
    """A track of a timeline that the page shows."""

    name: str
    """The name of the timeline: a mount, or `query_1` for a SELECT."""
    timeline: Timeline
    number: int
    select: str | None = None
    """The origin of its rows, if it is a SELECT."""
    mount: str | None = None
    called: str | None = None
    """The SELECT's column of names, and that of a counter's values, if given."""
    value: str | None = None
    title: str | None = None
    """What the page calls the SELECT."""

    @property
    def id(self) -> str:
        """Its id in requests."""
        return f"{self.name}:{self.number}"

    @property
    def home(self) -> str:
        """What the page calls its timeline."""
        return self.title or self.name

    @property
    def track(self) -> Track:
        """The track in the timeline."""
        return self.timeline.tracks[self.number]
