"""What is said on stderr while a progress bar is shown, which stands in for stderr then."""

from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console
from rich.progress import Progress

from dctv.console.narration import say


def test_a_message_beside_a_progress_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with Progress(console=Console(file=shown, force_terminal=True, stderr=True)) as bar:
        bar.add_task("mounting", total=2)
        assert sys.stderr.encoding is None
        say("mounted \x1b and \u00e4")
    assert "mounted" in shown.getvalue()
    assert "\u00e4" in shown.getvalue()
