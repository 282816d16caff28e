"""Convert errors for the page: message, hint, and position in the text that it sent."""

from __future__ import annotations

from typing import Any

from dctv.errors import DctvError, Interrupted, Place, render

WRONG = 400
GONE = 409
TOO_LARGE = 413
BUG = 500


class TooLarge(DctvError):
    """A request above the size limit."""


def status_of(error: BaseException) -> int:
    """Return the HTTP status for an error."""
    match error:
        case TooLarge():
            return TOO_LARGE
        case Interrupted():
            return GONE
        case DctvError():
            return WRONG
        case _:
            return BUG


def error_json(error: BaseException) -> dict[str, Any]:
    """Return an error as JSON."""
    if not isinstance(error, DctvError):
        what = f"internal error: {type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else ''}"
        error = DctvError(what, hint="this is a bug in dctv; please report it")
    place = None if error.place is None else _place(error.place)
    return {"message": error.message, "hint": error.hint, "rendered": render(error), "place": place}


def _place(place: Place) -> dict[str, int]:
    line, column = place.source.position(place.start)
    text = place.source.text
    return {"start": units(text, place.start), "stop": units(text, place.stop), "line": line, "column": column}


def units(text: str, offset: int) -> int:
    """Convert an offset to units of UTF-16, as in JavaScript."""
    return len(text[:offset].encode("utf-16-le", "surrogatepass")) // 2


def characters(text: str, offset: int) -> int:
    """Convert an offset in units of UTF-16 to Python's."""
    before = text.encode("utf-16-le", "surrogatepass")[: 2 * max(0, offset)]
    return len(before.decode("utf-16-le", "ignore"))
