"""Convert errors of the Spark Connect client to dctv's: one line, and a hint."""

from __future__ import annotations

import re

from dctv.engines.failures import failure as own_failure
from dctv.engines.spark.sweeps import FAILURE
from dctv.errors import DctvError, EngineError, Interrupted, Unanswered
from dctv.patterns import pattern

_UNREACHABLE = ("UNAVAILABLE", "DEADLINE_EXCEEDED", "Socket closed", "Connection refused", "Connection reset")
_ENDED = ("operation not found", "OPERATION_CANCELED", "session not found", "INVALID_HANDLE")
_NOISE = pattern(
    r"^(?:\[[A-Z_.]+\]|\(\w+(?:\.\w+)*\)|(?:[a-z]\w*\.)*[A-Z]\w*(?:Error|Exception)\s*:|invalid argument\s*:"
    r"|[Ee]xecution error\s*:|[Ii]nternal error\s*:|External error\s*:|Job aborted due to stage failure\s*:)\s*"
)
_LONGEST = 300


def failure(error: BaseException, address: str, *, interrupted: bool = False) -> DctvError:
    """Return dctv's error for an exception of the client."""
    if isinstance(error, DctvError):
        return error
    text = str(error)
    if interrupted:
        return Interrupted("interrupted")
    if text.count(FAILURE) > 1:
        # Raised by one of dctv's operators, so its text is clear already.
        return own_failure(ValueError(text.split(FAILURE)[1]))
    if is_unreachable(text):
        return lost(address)
    if re.search(r"No module named '?dctv", text):
        return EngineError(f"the workers of `{address}` cannot import dctv", hint=_INSTALL)
    return EngineError(f"`{address}` failed: {message_of(text)}")


_INSTALL = "install dctv of this version where the engine's workers run Python"


def is_unreachable(text: str) -> bool:
    """Whether an error means that the server no longer answers."""
    return any(one in text for one in _UNREACHABLE) or any(one in text for one in _ENDED)


def lost(address: str) -> Unanswered:
    """Return the error for a server that vanished while a query ran."""
    return Unanswered(
        f"the connection to `{address}` was lost; what came of the query so far is not all of it",
        hint="run it again once the server is back, or SET engine = 'duckdb'",
    )


def message_of(text: str) -> str:
    """Return the line of an engine's message that states the error."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    # A Python error on a worker comes with its traceback; the last line states the error.
    traced = any(line.startswith("Traceback (most recent call last)") for line in lines)
    own = [line for line in lines if re.match(r"(?:\w+\.)*\w*(?:Error|Exception|Interrupted): ", line)]
    line = own[-1] if traced and own else (lines[0] if lines else "it did not say why")
    before = None
    while before != line:
        before = line
        line = _NOISE.sub("", line)
    line = line.split("SQLSTATE:")[0].strip().rstrip(".")
    line = line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
    return line[:1].lower() + line[1:] if line[:2] != line[:2].upper() else line
