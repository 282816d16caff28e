"""Parse texts of dates, times and intervals: whether the engine reads them, and how long an interval is."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction

from dctv.contracts.engine import Engine
from dctv.errors import BindError, EngineError, Place
from dctv.patterns import pattern
from dctv.plan.build import select
from dctv.plan.expressions import Cast, Text

_DATE = pattern(r"\d{4}-\d\d-\d\d")
_TIMESTAMP = pattern(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?")
TYPES = ("DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S")
"""Types whose texts are read when a query is bound."""
_NANOSECONDS = pattern(r"\.\d{6}0*[1-9]")
_OF_MICROSECONDS = ("TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE")
"""Types with a resolution of microseconds; the engine drops anything finer silently."""
_MOST_KNOWN = 10_000
_readable: set[tuple[str, str]] = set()
"""Texts that the engine has read, with the type."""

_SECOND = 10**9
_UNITS = {
    **dict.fromkeys(("microsecond", "microseconds", "us", "usec", "usecs"), 1000),
    **dict.fromkeys(("millisecond", "milliseconds", "ms", "msec", "msecs"), 10**6),
    **dict.fromkeys(("second", "seconds", "s", "sec", "secs"), _SECOND),
    **dict.fromkeys(("minute", "minutes", "m", "min", "mins"), 60 * _SECOND),
    **dict.fromkeys(("hour", "hours", "h", "hr", "hrs"), 3600 * _SECOND),
    **dict.fromkeys(("day", "days", "d"), 86400 * _SECOND),
    **dict.fromkeys(("week", "weeks", "w"), 7 * 86400 * _SECOND),
}
"""Nanoseconds of the units that have a fixed length."""
_PIECE = pattern(r"\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+))\s*([a-z]+)\s*")
_RESOLUTION = 1000


def check(text: str, kind: str, engine: Engine, place: Place | None) -> None:
    """Refuse a text that the engine does not read as a date, time or interval: of most it need not be asked.

    Raises:
        BindError: it does not, or only in part.
    """
    if kind in _OF_MICROSECONDS and _NANOSECONDS.search(text):
        raise BindError(
            f"`{text}` has nanoseconds, {kind} has microseconds",
            place,
            hint=None if kind == "TIME" else "TIMESTAMP_NS has nanoseconds, and is in UTC",
        )
    if _is_plain(text, kind) or (text, kind) in _readable:
        return
    try:
        engine.compute(select(Cast(Text(text), kind)))
    except EngineError as error:
        raise BindError(error.message, place, hint=error.hint) from None
    if len(_readable) >= _MOST_KNOWN:
        _readable.clear()
    _readable.add((text, kind))


def _is_plain(text: str, kind: str) -> bool:
    if kind == "INTERVAL":
        return length(text) is not None
    try:
        if _DATE.fullmatch(text) and kind != "TIME":
            date.fromisoformat(text)
            return True
        if _TIMESTAMP.fullmatch(text) and kind not in ("TIME", "DATE"):
            datetime.fromisoformat(text.partition(".")[0])
            return True
    except ValueError:
        pass
    return False


def length(text: str) -> Fraction | None:
    """Return the nanoseconds of an interval; None if it has months, or is written otherwise than `2 days 1 hour`."""
    total, at, lowered = Fraction(0), 0, text.lower()
    while at < len(lowered):
        found = _PIECE.match(lowered, at)
        if found is None or found.group(2) not in _UNITS:
            return None
        total += Fraction(found.group(1)) * _UNITS[found.group(2)]
        at = found.end()
    return total if text.strip() and total % _RESOLUTION == 0 else None
