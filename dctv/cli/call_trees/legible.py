"""Show names with control characters as text on a terminal, or in the pager; files and pipes get them as they are."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from dctv.console.paint import CODES, RESET
from dctv.console.sink import STDOUT
from dctv.patterns import pattern
from dctv.visible import harmless

if TYPE_CHECKING:
    from argparse import Namespace

_CODES = "|".join(code.replace("[", r"\[") for code in CODES.values())
_RESET = RESET.replace("[", r"\[")
_PAINTED = pattern(rf"({_CODES})([^\033]*+)({_RESET})")
"""A text in a colour of our own, up to the end of the colour: a name that imitates one colours no more than itself."""
_ONLY_PAINTED = pattern(rf"(?:[^\033]++|(?:{_CODES})[^\033]*+{_RESET})*+")


class _Legible(io.RawIOBase):
    """A stream that escapes what a terminal would obey; each write consists of whole characters and colours."""

    def __init__(self, out: BinaryIO, *, coloured: bool) -> None:
        self._out = out
        self._coloured = coloured

    def writable(self) -> bool:
        """Return that it is writable."""
        return True

    def write(self, data: object, /) -> int:
        """Write bytes, and return how many were given."""
        assert isinstance(data, bytes | bytearray | memoryview)
        text = bytes(data).decode(errors="backslashreplace")
        self._out.write(legible(text, coloured=self._coloured).encode())
        return len(data)


def legible(text: str, *, coloured: bool) -> str:
    """Escape control characters other than newlines and tabs, and than those of our own colours if there are any."""
    coloured = coloured and "\033" in text
    if _is_legible(text, coloured=coloured):
        return text
    if not coloured:
        return harmless(text)
    # Each match adds three groups: the colour, the text in it, the end of the colour.
    parts = _PAINTED.split(text)
    return "".join(part if at % 4 in (1, 3) else harmless(part) for at, part in enumerate(parts))


def _is_legible(text: str, *, coloured: bool) -> bool:
    """Return whether there is nothing to escape, which is quick to determine for a whole block of lines."""
    if coloured:
        if not _ONLY_PAINTED.fullmatch(text):
            return False
        text = text.replace("\033", "")
    return text.replace("\n", "").replace("\t", "").isprintable()


@contextmanager
def shown(args: Namespace, out: BinaryIO) -> Iterator[BinaryIO]:
    """Provide a stream for the text of a command, legible if `out` leads to a terminal; flush `out` at the end."""
    if (args.output is None or args.output in STDOUT) and sys.stdout.isatty():
        # With a buffer of one byte, longer texts arrive in one piece.
        with io.BufferedWriter(_Legible(out, coloured=getattr(args, "coloured", False)), 1) as stream:
            yield stream
    else:
        yield out
    out.flush()
