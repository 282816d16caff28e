"""Open the page in the user's browser, if there is a graphical one."""

from __future__ import annotations

import os
import sys
import threading

_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")


def open_browser(address: str) -> None:
    """Open an address; without a display do nothing, since text browsers cannot show the page."""
    if sys.platform.startswith("linux") and not any(os.environ.get(name) for name in _SCREENS):
        return
    import webbrowser

    # Opening some browsers blocks until they are closed.
    threading.Thread(target=webbrowser.open, args=(address,), name="dctv-browser", daemon=True).start()
