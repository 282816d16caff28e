"""Draw a timeline; this module is loaded with every session, and loads the drawing code on demand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dctv.draw.joined import JoinedTimeline
    from dctv.draw.plot import Plot


def drawn(timeline: JoinedTimeline, options: Mapping[str, Any]) -> Plot:
    """Draw a timeline, with the options of `Plot`.

    Raises:
        UsageError: the picture cannot be drawn.
    """
    from dctv.draw.plot import Plot

    return Plot(timeline, **options)
