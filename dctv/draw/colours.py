"""Roles of colours: their meaning, their assignment to names and states, and their values on light and dark pages."""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32

HUES = ("#77aadd", "#ee8866", "#eedd88", "#ffaabb", "#99ddff", "#44bb99", "#bbcc33", "#b9b14a", "#c3a6e6")
"""Colours for names: the most common ones are distinguishable also with red-green colour blindness."""
NO_HUE = len(HUES)
"""The index of the colour for rows without a name."""
FILLS = (*(f"hue{place}" for place in range(len(HUES))), "nameless")
PALES = tuple(f"{role}-pale" for role in FILLS)
_NAMELESS = "#bfc3ca"
_HALF = 0.42
"""The opacity of pale colours."""
_BACKGROUND = {"light": "#ffffff", "dark": "#1c1e22"}
_LIGHT = {
    "ink": "#1f2328",
    "faint": "#5a626c",
    "on-fill": "#14171a",
    "on-pale": "#1f2328",
    "grid": "#e9ebee",
    "zero": "#a9b0b9",
    "rule": "#dfe2e6",
    "tick": "#8b939d",
    "band": "#e9edf2",
    "band-inner": "#f4f6f9",
    "line": "#1d5f9e",
    "range": "#8fbce6",
    "area": "#dcebf8",
    "running": "#3fae7c",
    "runnable": "#8ecbf2",
    "sleeping": "#e3e6ea",
    "uninterruptible": "#ec7a4b",
    "stopped": "#d7a6cf",
    "ended": "#a3a9b2",
    "unknown": "#cfd3d8",
}
_DARK = _LIGHT | {
    "ink": "#e6e8eb",
    "faint": "#a2a9b3",
    "on-pale": "#f0f2f4",
    "grid": "#2a2d33",
    "zero": "#6b727c",
    "rule": "#30343b",
    "tick": "#7d858f",
    "band": "#2d3239",
    "band-inner": "#23262c",
    "line": "#8cc4f5",
    "range": "#3f76a8",
    "area": "#253a4e",
    "sleeping": "#3b4048",
    "unknown": "#5b616a",
    "ended": "#7b828c",
}
_STATES = {
    "running": "running oncpu on-cpu executing active busy",
    "runnable": "runnable r r+ ready preempted waking wakeup runnable(preempted) waitcpu wait_cpu",
    "sleeping": "sleeping s sleep interruptible interruptiblesleep sleeping(interruptible) "
    "waiting wait idle i parked p",
    "uninterruptible": "uninterruptible d d+ dk uninterruptiblesleep disksleep blocked iowait io-wait waitblocked "
    "uninterruptible(io) uninterruptiblesleep(io) uninterruptiblesleep(non-io) d(io) d|k",
    "stopped": "stopped t traced trace tracingstop",
    "ended": "ended x z dead zombie exit exited terminated exit(dead) exit(zombie)",
    "unknown": "unknown",
}
_KNOWN = {word: role for role, words in _STATES.items() for word in words.split()}
STATES = tuple(_STATES)
"""Roles of states with the same meaning in every trace, in the order of legends."""


def hue_of(name: str | None) -> int:
    """Return the index of a name's colour, which is the same in every picture."""
    return crc32(name.encode("utf-8", "surrogatepass")) % len(HUES) if name else NO_HUE


def state_role(name: str | None) -> str:
    """Return the colour of a state: a well-known one, or that of its name."""
    word = "".join((name or "")[:64].lower().split())
    return _KNOWN.get(word) or FILLS[hue_of(name)]


def state_rank(name: str | None) -> tuple[int, str]:
    """Return a sort key for states: well-known ones come first."""
    role = state_role(name)
    return STATES.index(role) if role in STATES else len(STATES), name or ""


def ink_on(role: str) -> str:
    """Return the colour of text on another colour."""
    return "on-pale" if role in PALES or role in ("sleeping", "unknown") else "on-fill"


def palette(*, dark: bool) -> Mapping[str, str]:
    """Return the value of every role, as `#rrggbb`."""
    background = _BACKGROUND["dark" if dark else "light"]
    fills = dict(zip(FILLS, (*HUES, _NAMELESS), strict=True))
    pales = {f"{role}-pale": _mixed(colour, background) for role, colour in fills.items()}
    return {"background": background, **(_DARK if dark else _LIGHT), **fills, **pales}


def rgb(colour: str) -> tuple[int, int, int]:
    """Parse `#rrggbb`."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _mixed(colour: str, background: str) -> str:
    mixed = (round(_HALF * a + (1 - _HALF) * b) for a, b in zip(rgb(colour), rgb(background), strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)
