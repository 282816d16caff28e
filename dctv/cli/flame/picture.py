"""Write frames as a self-contained SVG picture."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from zlib import crc32

from dctv.cli.flame.frames import FlameFrame, ShownFrames
from dctv.cli.flame.script import SCRIPT, STYLE
from dctv.patterns import pattern
from dctv.record import record

WIDTH = 1200
"""The width of a picture with its margins."""
MARGIN = 10
INNER = WIDTH - 2 * MARGIN
_HEAD, _FOOT, _ROW = 74, 48, 16
_LETTER = 7.25
"""The width of a letter."""
_DIGITS = 3
_UNFIT = pattern("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that are invalid in XML."""
_CONTROLS = pattern("[\t\n\r\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Characters that would break a line, or change the direction of text."""
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}


@record
class Caption:
    """The texts around the frames."""

    title: str
    lines: tuple[str, ...]
    """Below the title: totals, filters."""
    notes: tuple[str, ...]
    """Below the frames: what was omitted."""
    value: Callable[[int], str]
    """Formats a width for the user."""
    counted: bool
    """Whether to show the number of calls of a frame."""


def escaped(text: str) -> str:
    """Escape a text for XML, on one line."""
    plain = _CONTROLS.sub(" ", _UNFIT.sub("\ufffd", text))
    return re.sub("[&<>\"']", lambda found: _ESCAPES[found[0]], plain)


def picture(shown: ShownFrames, caption: Caption, *, inverted: bool) -> Iterator[str]:
    """Yield an SVG picture in pieces; `inverted` puts the outermost frames at the top."""
    levels = 1 + max((frame.depth + 1 for frame in shown.frames), default=0)
    height = _HEAD + levels * _ROW + _FOOT

    def top(depth: int) -> int:
        level = depth + 1
        return _HEAD + (level if inverted else levels - 1 - level) * _ROW

    yield from _head(height, caption)
    whole = FlameFrame("all", -1, 0, shown.whole, shown.whole, 0, None)
    scale = INNER / shown.whole if shown.whole else 0.0
    yield '<g font-size="12">\n'
    for frame in (whole, *shown.frames) if shown.whole else ():
        yield _frame(frame, shown.whole, scale, top(frame.depth), caption)
    yield "</g>\n"
    yield from _foot(height, caption)


def _head(height: int, caption: Caption) -> Iterator[str]:
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'data-left="{MARGIN}" data-width="{INNER}" data-letter="{_LETTER}" font-family="monospace" font-size="12">\n'
        f"<style>{STYLE}</style>\n"
        f'<rect width="{WIDTH}" height="{height}" fill="#fffdf5"/>\n'
        f'<text x="{WIDTH // 2}" y="22" font-size="16" text-anchor="middle">{escaped(caption.title)}</text>\n'
    )
    for number, line in enumerate(caption.lines):
        yield f'<text x="{MARGIN}" y="{40 + 14 * number}">{escaped(line)}</text>\n'
    right = WIDTH - MARGIN
    yield (
        '<g class="live hidden">\n'
        f'<text class="reset button hidden" x="{right - 190}" y="22" text-anchor="end">reset zoom</text>\n'
        f'<foreignObject x="{right - 180}" y="6" width="180" height="24">'
        '<input xmlns="http://www.w3.org/1999/xhtml" class="search" type="search" placeholder="search" '
        'aria-label="search"/></foreignObject>\n'
        f'<text class="matched" x="{right}" y="44" text-anchor="end"></text>\n'
        "</g>\n"
    )


def _foot(height: int, caption: Caption) -> Iterator[str]:
    yield f'<text class="told" x="{MARGIN}" y="{height - 34}"></text>\n'
    for number, line in enumerate(reversed(caption.notes)):
        yield f'<text class="note" x="{MARGIN}" y="{height - 6 - 14 * number}">{escaped(line)}</text>\n'
    yield f"<script><![CDATA[{SCRIPT}]]></script>\n</svg>\n"


def _frame(frame: FlameFrame, whole: int, scale: float, y: int, caption: Caption) -> str:
    # Round both edges, so that neighbours touch and children end where their parent does.
    first, last = (round(end * scale, _DIGITS) for end in (frame.before, frame.before + frame.width))
    x, width = round(MARGIN + first, _DIGITS), round(last - first, _DIGITS)
    room = int((width - 4) / _LETTER)
    name = frame.name if len(frame.name) <= room else frame.name[: room - 2] + ".." if room > 2 else ""
    label = f'<text x="{x + 2:g}" y="{y + 12}">{escaped(name)}</text>' if name else ""
    return (
        f'<g class="frame" data-depth="{frame.depth}"><title>{escaped(frame.name)} ({_label(frame, whole, caption)})'
        f'</title><rect x="{_number(x)}" y="{y}" width="{_number(width)}" height="{_ROW - 1}" rx="1" '
        f'fill="{_colour(frame)}"/>{label}</g>\n'
    )


def _number(value: float) -> str:
    return f"{value:.{_DIGITS}f}".rstrip("0").rstrip(".")


def _label(frame: FlameFrame, whole: int, caption: Caption) -> str:
    parts = [caption.value(frame.width) if frame.width == frame.total else f"at least {caption.value(frame.width)}"]
    parts.append(f"{100 * frame.width / whole:.2f} %")
    if frame.calls and caption.counted:
        parts.append(f"{frame.calls} {'call' if frame.calls == 1 else 'calls'}")
    if frame.other is not None:
        parts.append(f"in the other {caption.value(frame.other)}" if frame.other else "not in the other")
        if frame.other:
            parts.append(f"{100 * (frame.width - frame.other) / frame.other:+.2f} %")
    return ", ".join(parts)


def _colour(frame: FlameFrame) -> str:
    """Return a warm colour that depends on the name; in a comparison, red for an increase, and blue for a decrease."""
    if frame.depth < 0:
        return "#e8e4d8"
    if frame.other is None:
        code = crc32(frame.name.encode("utf-8", "surrogatepass"))
        red, green, blue = 205 + code % 50, 80 + (code >> 8) % 140, (code >> 16) % 60
        return f"#{red:02x}{green:02x}{blue:02x}"
    change = (frame.width - frame.other) / frame.other if frame.other else 1.0
    pale = round(245 - 175 * min(abs(change), 1.0))
    return f"#f5{pale:02x}{pale:02x}" if change > 0 else f"#{pale:02x}{pale:02x}f5"
