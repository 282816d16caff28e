"""Messages on stderr while a progress bar is shown, which replaces stderr then."""

from __future__ import annotations

import io
import re
import sys
import time

import pytest
from rich.console import Console
from rich.progress import Progress

from dctv.console.narration import print_stderr
from dctv.console.progress import ProgressBar


def test_a_message_beside_a_progress_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with Progress(console=Console(file=shown, force_terminal=True, stderr=True)) as bar:
        bar.add_task("mounting", total=2)
        assert sys.stderr.encoding is None
        print_stderr("mounted \x1b and \u00e4")
    assert "mounted" in shown.getvalue()
    assert "\u00e4" in shown.getvalue()


def test_a_progress_bar_shows_progress_and_remaining_time(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("dctv.console.progress.PATIENCE", 0)
    bar = ProgressBar()
    for done in range(0, 60, 10):
        bar.update("reading t.pfw", done, 100)
        time.sleep(0.06)
    bar.clear()
    printed = re.sub("\033\\[[0-9;?]*[A-Za-z]", "", shown.getvalue())
    assert re.search(r"reading t\.pfw \S+ 50/100 bytes [0-9]+ bytes/s 0:00:0", printed)
