"""Runs of columns to characters: on blocks of colour, or between brackets where there are none."""

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
"""How many columns a label takes at least."""
_OPEN, _CLOSE, _LINE, _FEW, _ONE, _SEVERAL = "[]─┄|¦"


def shortened(text: str, width: int) -> str:
    """Return a text, or its begin with an ellipsis, in so many columns."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(set_cell_size(text, width - 1).rstrip() + ELLIPSIS, width) if width > 1 else " " * width


def block(name: str, width: int, edge: str = EDGE) -> str:
    """Return what stands on a block of colour, with what divides it from a neighbour of the same one."""
    if width == 1:
        return " "
    return edge + (shortened(name, width - 1) if width >= _LABELLED else " " * (width - 1))


def bracket(name: str, width: int, *, several: bool) -> str:
    """Return a slice without colours: `[read───]`."""
    if width == 1:
        return _SEVERAL if several else _ONE
    inner = shortened(name, width - 2).rstrip() if width >= _LABELLED else ""
    return _OPEN + _padded(inner, width - 2, _FEW if several else _LINE) + _CLOSE


def letters(names: Sequence[str]) -> Mapping[str, str]:
    """Return the character of each state, where there are no colours."""
    others = [name for name in names if state_role(name) not in _STATES]
    found = {name: ascii_letters[place % len(ascii_letters)] for place, name in enumerate(others)}
    return {name: _STATES.get(state_role(name)) or found[name] for name in names}


def fill(role: str) -> Style:
    """Return the style of a block of a colour."""
    from rich.style import Style

    colours = palette(dark=True)
    return Style(color=colours[ink_on(role)], bgcolor=colours[role])


def ink(role: str) -> Style:
    """Return the style of letters of a colour."""
    from rich.style import Style

    return Style(color=palette(dark=True)[role])


def _padded(text: str, width: int, with_what: str) -> str:
    from rich.cells import cell_len

    return text + with_what * (width - cell_len(text))
