"""Every error a user can meet, where it happened in the text, and how it is printed."""

from __future__ import annotations

from bisect import bisect_right
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dctv.record import field, record
from dctv.visible import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from traceback import FrameSummary
    from types import FrameType


@record
class SourceText:
    """A text that was given to dctv, and the name under which errors cite it."""

    name: str
    """`report.sql`, `<stdin>`, `<query>`, `stdlib/scheduler/timeslices_p_cpu.sql`."""
    text: str

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and column (both from 1) of a character offset."""
        starts = [0]
        starts.extend(i + 1 for i, c in enumerate(self.text) if c == "\n")
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line(self, number: int) -> str:
        """Return the text of a line (from 1), without its newline."""
        return self.text.split("\n")[number - 1].rstrip("\r")


@record
class Place:
    """A half-open range of character offsets in a source."""

    source: SourceText
    start: int
    stop: int

    @property
    def text(self) -> str:
        """The characters of this place."""
        return self.source.text[self.start : self.stop]


class DctvError(Exception):
    """Base of every error a user can cause; its `str` is the terminal's text: place, caret, hint.

    `message` alone is one line, lower case, without a full stop.
    """

    exit_code = 2

    def __init__(self, message: str, place: Place | None = None, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.hint = hint
        self.found = ""
        """Lines of rows or values that were found, shown below the place."""

    def __str__(self) -> str:
        return harmless(render(self))

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows: where the program called dctv, and the error, which fits on a screen."""
        frames = _callers(self)[-_CALLERS:]
        called = [line for one in frames for line in (f"{one.filename}:{one.lineno}, in {one.name}", f"    {one.line}")]
        return [*called, *f"{type(self).__name__}: {self}".splitlines()]


class QueryError(DctvError):
    """The SQL text is wrong."""


class ParseError(QueryError):
    """The text does not follow the grammar."""


class BindError(QueryError):
    """A name, a kind or an argument does not fit."""


class UnitError(QueryError):
    """Units do not fit together."""


class EngineError(QueryError):
    """The engine refused or failed a query while running it."""


class NotOnThisEngine(EngineError):
    """A query uses something that the engine lacks or gives another meaning."""


class Unanswered(EngineError):
    """A remote engine cannot be reached, or the connection was lost."""


class UsageError(DctvError):
    """Wrong arguments of a command or of the Python API."""


class AssertionFailed(DctvError):
    """An ASSERT or EXPECT statement does not hold."""

    exit_code = 1

    def __init__(self, message: str, place: Place | None = None, *, found: str = "") -> None:
        super().__init__(message, place)
        self.found = found


class TraceError(DctvError):
    """A trace cannot be read, or not wholly."""

    exit_code = 3


class FileDamaged(DctvError):
    """A file that was made of a trace, to be read later, is damaged or of another kind."""


class FileOfAnother(FileDamaged):
    """Such a file is intact, but was made of another trace, or by another version."""


class IndexUnusable(DctvError):
    """An index is there but must not be used: damaged, of another version, or of files that have changed since."""


class IndexFailed(DctvError):
    """An index cannot be built or kept: no room, no permission, or the trace changes meanwhile."""


class Interrupted(DctvError):
    """The user interrupted a query."""

    exit_code = 130


class Terminated(Interrupted):
    """The process was asked to end, by SIGTERM."""

    exit_code = 143


class TimedOut(Interrupted):
    """The work took longer than it may."""

    exit_code = 124
    """The exit code of `timeout` on most systems."""


class DctvWarning(UserWarning):
    """A warning about a query, a mount or a filter: it gave rows, but not all may be as it seems."""


@record(frozen=False)
class WarningLog:
    """The warnings of one statement; equal messages are counted, not repeated."""

    entries: dict[str, int] = field(default_factory=dict)
    _reported: set[str] = field(default_factory=set)
    _recordings: list[dict[str, int]] = field(default_factory=list)

    def add(self, message: str, count: int = 1) -> None:
        """Count a message."""
        for entries in (self.entries, *self._recordings):
            entries[message] = entries.get(message, 0) + count

    def add_once(self, message: str) -> None:
        """Count a message of this call alone, which is not repeated when the result of its work is used again."""
        self.entries[message] = self.entries.get(message, 0) + 1

    def repeat(self, messages: Mapping[str, int]) -> None:
        """Count messages of earlier work whose result is used again, unless they were counted already."""
        for entries in (self.entries, *self._recordings):
            for message, count in messages.items():
                entries.setdefault(message, count)

    @contextmanager
    def recording(self) -> Iterator[dict[str, int]]:
        """Give a dictionary that gets the messages, with counts, of the work done meanwhile."""
        recorded: dict[str, int] = {}
        self._recordings.append(recorded)
        try:
            yield recorded
        finally:
            self._recordings = [one for one in self._recordings if one is not recorded]

    def unreported(self) -> list[tuple[str, int]]:
        """Return the messages that were not returned before, with counts."""
        found = [one for one in self.entries.items() if one[0] not in self._reported]
        self._reported.update(message for message, _ in found)
        return found

    def clear(self) -> None:
        """Forget everything."""
        self.entries.clear()
        self._reported.clear()


def counted(message: str, count: int) -> str:
    """Return a warning with how often it happened: `division by zero gave NULL (3 times)`."""
    return f"{message} ({count} times)" if count > 1 else message


_CALLERS = 3
"""The number of frames of the program that a notebook shows above an error."""


def _callers(error: DctvError) -> list[FrameSummary]:
    """Return the frames of a program that led to its call of dctv, without those of IPython."""
    from itertools import takewhile
    from traceback import StackSummary, walk_tb

    def package(frame: FrameType) -> str:
        return str(frame.f_globals.get("__name__", "")).partition(".")[0]

    outside = takewhile(lambda one: package(one[0]) != "dctv", walk_tb(error.__traceback__))
    return StackSummary.extract(one for one in outside if package(one[0]) != "IPython")


def render(error: DctvError) -> str:
    """Format an error for a person: place, message, the line with a caret, at most one hint."""
    lines: list[str] = []
    if error.place is None:
        lines.append(f"error: {error.message}")
    else:
        source = error.place.source
        number, column = source.position(error.place.start)
        lines.append(f"{source.name}:{number}:{column}: {error.message}")
        lines += _marked(source.line(number), column - 1, error.place.stop - error.place.start)
    if error.found:
        lines.append(error.found)
    if error.hint is not None:
        lines.append(f"hint: {error.hint}")
    return "\n".join(lines)


_WIDEST = 160
"""The number of characters of a line that an error shows; lines of generated queries can be very long."""
_BEFORE = 60
"""The number of those before the place."""


def _marked(line: str, start: int, length: int) -> tuple[str, str]:
    """Return a line, or the part of a long one around a place, and the line with carets below it."""
    first = 0 if len(line) <= _WIDEST else max(0, min(start - _BEFORE, len(line) - _WIDEST))
    shown = line[first : first + _WIDEST]
    width = max(1, min(length, first + len(shown) - start))
    before, after = "..." * (first > 0), "..." * (first + len(shown) < len(line))
    pad = "".join("\t" if c == "\t" else " " for c in f"{before}{line[first:start]}")
    return f"  {before}{shown}{after}", f"  {pad}{'^' * width}"


def nearest(name: str, candidates: list[str]) -> str | None:
    """Return the candidate most like `name`, or None when nothing is close."""
    from difflib import get_close_matches  # 8 ms to import, only wanted when something is wrong

    lowered = {c.lower(): c for c in candidates}
    found = get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.6)
    return lowered[found[0]] if found else None


def reason_of(error: OSError) -> str:
    """Return the system's message of an error of the file system or a socket, in lower case."""
    return (error.strerror or str(error)).lower()
