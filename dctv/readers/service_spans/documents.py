"""Parse JSON documents and lines into the elements of their objects' arrays, one at a time."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Generator, Iterator
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO

from dctv.errors import TraceError
from dctv.patterns import pattern
from dctv.record import record

PIECE = 1 << 20
MOST = 64 << 20
"""The maximum number of characters of one element: larger ones are not traces, or unreadable."""


def _float_or_text(digits: str) -> float | str:
    value = float(digits)
    return value if isfinite(value) else digits


_DECODER = json.JSONDecoder(parse_float=_float_or_text, parse_constant=str)
"""Numbers that are not finite are texts, as in OTLP: JSON has no others."""
_SPACE = pattern(r"[ \t\r\n\ufeff]*")
_KEY = pattern(r'[ \t\r\n,]*"((?:[^"\\]|\\.)*)"[ \t\r\n]*:[ \t\r\n]*')


@record(frozen=False)
class Trouble:
    """Faults found in a file."""

    bad: int = 0
    """Pieces of text that are not JSON."""
    example: str = ""
    cut: bool = False
    """Whether the file ends within a value."""


class Elements:
    """The elements of a file: (member of its object, element), where a value other than an array is one element."""

    def __init__(self, path: Path, opened: BinaryIO | gzip.GzipFile, trouble: Trouble) -> None:
        self._path = path
        self._file = opened
        self._trouble = trouble
        self._text = ""
        self._at = 0
        self._ended = False
        self._rest = b""

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        while self._peek():
            if self._text[self._at] == "{":
                self._at += 1
                yield from self._members()
            else:
                self._skip_line()

    def _members(self) -> Iterator[tuple[str, Any]]:
        while True:
            end = self._peek(",")
            if end in {"", "}"}:
                self._at += len(end)
                self._trouble.cut |= not end
                return
            found = _KEY.match(self._text, self._at)
            while found is None and self._more():
                found = _KEY.match(self._text, self._at)
            if found is None:
                self._skip_line()
                return
            key = found[1]
            self._at = found.end()
            if self._peek() == "[":
                self._at += 1
                if not (yield from self._array(key)):
                    return
            else:
                complete, value = self._value()
                if not complete:
                    return
                yield key, value

    def _array(self, key: str) -> Generator[tuple[str, Any], None, bool]:
        while True:
            end = self._peek(",")
            if end == "]":
                self._at += 1
                return True
            complete, value = self._value() if end else (False, None)
            if not complete:
                self._trouble.cut |= not end
                return False
            yield key, value

    def _value(self) -> tuple[bool, Any]:
        """Read one value; return whether there was one."""
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                # The position of the error distinguishes a damaged value from one that was not read to its end yet.
                near = isinstance(error, json.JSONDecodeError) and error.pos < len(self._text) - 64
                unterminated = isinstance(error, json.JSONDecodeError) and error.msg.startswith("Unterminated")
                if (not near or unterminated) and not isinstance(error, RecursionError) and self._more():
                    continue
                self._trouble.cut |= self._ended and not near
                self._skip_line()
                return False, None
            if end < len(self._text) or not self._more():
                self._at = end
                return True, value

    def _peek(self, also: str = "") -> str:
        """Skip white space; return the next character, empty at the end."""
        while True:
            found = _SPACE.match(self._text, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._text):
                if self._text[self._at] not in also:
                    return self._text[self._at]
                self._at += 1
            elif not self._more():
                return ""

    def _skip_line(self) -> None:
        """Skip a line that is not JSON, and count it."""
        while (end := self._text.find("\n", self._at)) < 0 and self._more():
            pass
        line = self._text[self._at : end if end >= 0 else len(self._text)]
        self._trouble.bad += 1
        self._trouble.example = self._trouble.example or line[:200]
        self._at = end + 1 if end >= 0 else len(self._text)

    def _more(self) -> bool:
        """Read more text; return whether there was any."""
        if self._ended:
            return False
        if len(self._text) - self._at > MOST:
            raise TraceError(f"cannot read `{self._path}`: a value has more than {MOST >> 20} million characters")
        try:
            piece = self._file.read(max(PIECE, len(self._text) - self._at))
        except (EOFError, zlib.error, gzip.BadGzipFile):
            piece = b""
            self._trouble.cut = True
        raw = self._rest + piece
        self._ended = not piece
        cut = 0 if self._ended else _tail(raw)
        self._rest = raw[len(raw) - cut :]
        self._text = self._text[self._at :] + raw[: len(raw) - cut].decode("utf-8", "replace")
        self._at = 0
        return bool(piece)


def _tail(raw: bytes) -> int:
    """Return the number of bytes of an incomplete character at the end."""
    for back in range(1, min(4, len(raw) + 1)):
        byte = raw[-back]
        if byte >= 0xC0:
            size = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if size > back else 0
        if byte < 0x80:
            return 0
    return 0


def elements(path: Path, trouble: Trouble) -> Iterator[tuple[str, Any]]:
    """Yield the elements of a file, plain or gzip.

    Raises:
        TraceError: one of them is too large.
        OSError: the file cannot be read.
    """
    with path.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    with path.open("rb") as raw:
        yield from Elements(path, gzip.GzipFile(fileobj=raw) if packed else raw, trouble)
