"""What leads from slice to slice is drawn over the tracks: wake-ups followed back, and arrows of flows."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image
from playwright.sync_api import expect

from tests.page.browser.conftest import Open
from tests.page.served import DATA
from tests.page.view import View, box_of, until

WAITS = DATA / "stdlib" / "waits.trace.txt"
FLOWS = DATA / "stdlib" / "flows.json"
CRITICAL, FLOW = (194, 24, 91), (138, 63, 252)


def drawn(view: View, colour: tuple[int, int, int]) -> set[int]:
    """Return the heights of the timeline at which there is a colour."""
    with Image.open(io.BytesIO(view.page.screenshot(clip=box_of(view.timeline)))) as image:
        found = np.all(np.asarray(image.convert("RGB")) == colour, axis=2)
    return set(np.flatnonzero(found.any(axis=1)).tolist())


def test_wake_ups_are_followed_back(view_of: Open) -> None:
    """The trace begins at 0, which is no reason to draw nothing."""
    view = view_of(WAITS)
    view.search.fill("where name = 'sleeping' AND _duration = 70us")
    view.search.press("Enter")
    expect(view.panel("Details")).to_contain_text("main")
    assert drawn(view, CRITICAL) == set()
    view.panel("Details").get_by_role("button", name="Critical path").click()
    expect(view.panel("Details")).to_contain_text("Critical path (7)")
    heights = until(lambda: drawn(view, CRITICAL), "the critical path is not drawn")
    assert max(heights) - min(heights) > 3 * 24  # from one thread to another one


def test_flows_are_arrows(view_of: Open) -> None:
    view = view_of(FLOWS)
    view.search.fill("send")
    view.search.press("Enter")
    expect(view.panel("Details").get_by_role("heading", name="Flows out")).to_be_visible()
    assert len(until(lambda: drawn(view, FLOW), "no arrow is drawn")) > 10
