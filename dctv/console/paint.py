"""Colour texts, if they go to a terminal that shows colours."""

from __future__ import annotations

import os
import sys
from typing import Literal

from dctv.record import record

Colour = Literal["red", "green", "yellow", "blue", "magenta", "cyan", "gray", "bold"]
CODES: dict[Colour, str] = {
    "red": "\033[91m",
    "green": "\033[32m",
    "yellow": "\033[33m",
    "blue": "\033[94m",
    "magenta": "\033[35m",
    "cyan": "\033[36m",
    "gray": "\033[90m",
    "bold": "\033[1m",
}
RESET = "\033[0m"
CHOICES = ("auto", "always", "never")


@record
class Paint:
    """Colours texts, or leaves them unchanged."""

    on: bool = False

    def __call__(self, colour: Colour | None, text: str) -> str:
        """Return the text in a colour."""
        return f"{CODES[colour]}{text}{RESET}" if self.on and colour is not None and text else text


def coloured(choice: str, *, to_terminal: bool = True) -> bool:
    """Return whether stdout, or a file if `to_terminal` is false, gets colours."""
    if choice != "auto":
        return choice == "always"
    allowed = not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") not in ("", "dumb")
    return to_terminal and allowed and sys.stdout.isatty()
