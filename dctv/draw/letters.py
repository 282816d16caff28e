"""Texts of traces, which may be hostile, to what is written into a picture: one line, of characters that fit."""

from __future__ import annotations

from dctv.patterns import pattern

LONGEST = 240
"""Characters of a name that are ever written."""
ELLIPSIS = "…"
NAMELESS = "(no name)"
_UNFIT = pattern("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold."""
_CONTROLS = pattern("[\t\n\r\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""Characters that would break a line, turn what follows around, or cannot be seen."""
_ADVANCES = {
    "'ijlI|.,:;! ": 285,
    'ft/\\r-()[]{}`"': 345,
    "csvxyzkJ?_": 530,
    "aego0123456789#$+<=>^~*": 590,
    "bdhnpquFLTZ": 615,
    "ABEKPRSUVXY&": 690,
    "CDGHNOQ": 745,
    "wmM%@": 870,
    "W": 960,
    "…": 1000,
}
"""How far letters reach, in thousandths of their size, in fonts as they are usual for pages."""
_ADVANCE = {letter: width for letters, width in _ADVANCES.items() for letter in letters}
_LATIN, _OTHER = 640, 1100
_BOLD = 1.1
_FEWEST = 3
"""Letters that a shortened text must have left."""


def cleaned(text: str | None) -> str:
    """Return a name as one line of characters that can be seen, shortened if it is very long."""
    if not text:
        return NAMELESS
    kept = text if len(text) <= LONGEST else text[: LONGEST - 1] + ELLIPSIS
    return _CONTROLS.sub(" ", _UNFIT.sub("\ufffd", kept))


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """Return how wide a text may become, in pixels."""
    return sum(map(_advance, text)) * size / 1000 * (_BOLD if bold else 1)


def fitted(text: str, room: float, size: float, *, bold: bool = False) -> str:
    """Return the text, or as much of its begin as there is room for and an ellipsis, or nothing."""
    left = room * 1000 / size / (_BOLD if bold else 1)
    short, used = 0, 0.0
    for place, letter in enumerate(text):
        used += _advance(letter)
        if used > left:
            kept = text[:short].rstrip()
            return kept + ELLIPSIS if len(kept) >= _FEWEST else ""
        if used + _ADVANCE[ELLIPSIS] <= left:
            short = place + 1
    return text


def _advance(letter: str) -> int:
    known = _ADVANCE.get(letter)
    return known if known is not None else _LATIN if letter < "\u0300" else _OTHER
