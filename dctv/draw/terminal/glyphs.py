"""Write runs of columns as characters: on blocks of colour, or in brackets without colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_letters
from typing import TYPE_CHECKING

from dctv.draw.colours import STATES, ink_on, palette, state_role
from dctv.draw.letters import ELLIPSIS

if TYPE_CHECKING:
    from rich.style import Style

BARS = " ▁▂▃▄▅▆▇█"
MARK = "▼"
EDGE = "▏"
_STATES = dict(zip(STATES, "█▒·▓=x?", strict=True))
_LABELLED = 5
"""The minimum number of columns of a label."""
_OPEN, _CLOSE, _LINE, _FEW, _ONE, _SEVERAL = "[]─┄|¦"


def shortened(text: str, width: int) -> str:
    """Return a text shortened with an ellipsis to this many columns."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(set_cell_size(text, width - 1).rstrip() + ELLIPSIS, width) if width > 1 else " " * width


def block(name: str, width: int, edge: str = EDGE) -> str:
    """Return the label of a block of colour, with a separator from an equal neighbour."""
    if width == 1:
        return " "
    return edge + (shortened(name, width - 1) if width >= _LABELLED else " " * (width - 1))


def bracket(name: str, width: int, *, several: bool) -> str:
    """Write a slice without colours: `[read───]`."""
    if width == 1:
        return _SEVERAL if several else _ONE
    inner = shortened(name, width - 2).rstrip() if width >= _LABELLED else ""
    return _OPEN + _padded(inner, width - 2, _FEW if several else _LINE) + _CLOSE


def letters(names: Sequence[str]) -> Mapping[str, str]:
    """Return a character for each state, for output without colours."""
    others = [name for name in names if state_role(name) not in _STATES]
    found = {name: ascii_letters[place % len(ascii_letters)] for place, name in enumerate(others)}
    return {name: _STATES.get(state_role(name)) or found[name] for name in names}


def fill(role: str) -> Style:
    """Return the style of a block with a colour."""
    from rich.style import Style

    colours = palette(dark=True)
    return Style(color=colours[ink_on(role)], bgcolor=colours[role])


def ink(role: str) -> Style:
    """Return the style of text with a colour."""
    from rich.style import Style

    return Style(color=palette(dark=True)[role])


def _padded(text: str, width: int, with_what: str) -> str:
    from rich.cells import cell_len

    return text + with_what * (width - cell_len(text))
