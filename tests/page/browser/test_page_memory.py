"""The page holds no more for having been used for longer."""

from __future__ import annotations

from playwright.sync_api import CDPSession

from tests.page.browser.conftest import Open
from tests.page.served import PERFETTO
from tests.page.view import View

DEEP = 15
GROWTH = 500_000
"""Bytes that engines may need for themselves; what a zoom leaves behind would be more after so many."""


def _zoomed(view: View, cdp: CDPSession, places: int) -> int:
    """Zoom in and out at this number of places; return the size of the heap after garbage collection."""
    for place in range(places):
        share = 0.1 + 0.8 * (place * 0.618 % 1)
        view.zoom(share, DEEP)
        view.zoom(share, -DEEP)
    view.rested()
    cdp.send("HeapProfiler.collectGarbage")
    return int(cdp.send("Runtime.getHeapUsage")["usedSize"])


def test_zooming_leaks_no_memory(view_of: Open) -> None:
    view = view_of(PERFETTO)
    cdp = view.page.context.new_cdp_session(view.page)
    before = _zoomed(view, cdp, 3)
    assert _zoomed(view, cdp, 6) < before + GROWTH
