"""Clean texts of traces, which may be hostile, for pictures: one line of printable characters."""

from __future__ import annotations

from dctv.patterns import pattern

LONGEST = 240
"""The maximum length of a name in a picture."""
ELLIPSIS = "…"
NAMELESS = "(no name)"
_UNFIT = pattern("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that are invalid in XML."""
_CONTROLS = pattern("[\t\n\r\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""Characters that would break a line, change the direction of text, or are invisible."""
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
"""Widths of letters, in thousandths of their size, in common fonts."""
_ADVANCE = {letter: width for letters, width in _ADVANCES.items() for letter in letters}
_LATIN, _OTHER = 640, 1100
_BOLD = 1.1
_FEWEST = 3
"""The minimum number of letters in a shortened text."""


def cleaned(text: str | None) -> str:
    """Return a name as one line of visible characters, shortened if it is very long."""
    if not text:
        return NAMELESS
    shortened = text if len(text) <= LONGEST else text[: LONGEST - 1] + ELLIPSIS
    return _CONTROLS.sub(" ", _UNFIT.sub("\ufffd", shortened))


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """Return an upper bound of a text's width, in pixels."""
    return sum(map(_advance, text)) * size / 1000 * (_BOLD if bold else 1)


def fitted(text: str, room: float, size: float, *, bold: bool = False) -> str:
    """Return the text, shortened with an ellipsis to fit, or empty."""
    left = room * 1000 / size / (_BOLD if bold else 1)
    short, used = 0, 0.0
    for place, letter in enumerate(text):
        used += _advance(letter)
        if used > left:
            prefix = text[:short].rstrip()
            return prefix + ELLIPSIS if len(prefix) >= _FEWEST else ""
        if used + _ADVANCE[ELLIPSIS] <= left:
            short = place + 1
    return text


def _advance(letter: str) -> int:
    advance = _ADVANCE.get(letter)
    return advance if advance is not None else _LATIN if letter < "\u0300" else _OTHER
