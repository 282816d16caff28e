"""Opens the page in the person's browser, where there is one with windows."""

from __future__ import annotations

import os
import sys
import threading

_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")


def open_browser(address: str) -> None:
    """Open an address; where there is no screen nothing happens: a browser in the terminal shows no page like ours."""
    if sys.platform.startswith("linux") and not any(os.environ.get(name) for name in _SCREENS):
        return
    import webbrowser

    # Some browsers are waited for until they are closed.
    threading.Thread(target=webbrowser.open, args=(address,), name="dctv-browser", daemon=True).start()
