"""Convert statistics of an ftrace trace's files to errors, diagnostics and properties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dctv.contracts.reader import Diagnostic
from dctv.contracts.unread import mostly_unread
from dctv.errors import TraceError, reason_of
from dctv.readers.ftrace_events.clock_marks import unix_start

INCOMPLETE = {"too_long", "too_many_events"}
"""Reasons for missing parts of the trace that are not due to faulty events."""
UNREAD = {"unknown", "unnamed", "bad_time", "too_long", "too_many_events"}
"""Reasons for which a line is discarded."""


def check(path: Path) -> None:
    """Reject a missing or empty file."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise TraceError(f"cannot read `{path}`: {reason_of(error)}") from None
    if size == 0:
        raise TraceError(f"`{path}` is empty, expected ftrace text")


def check_statistics(path: Path, statistics: Mapping[str, Any]) -> None:
    """Reject a file without ftrace text; a file with a header and no event is an empty trace."""
    if statistics["events"] or statistics["headers"]:
        return
    if statistics["broken"]:
        raise TraceError(f"cannot read `{path}`: {statistics['broken']}")
    if statistics["damaged"] or statistics["foreign"]:
        raise TraceError(
            f"no ftrace text in the page `{path}`, found {statistics['damaged'] + statistics['foreign']} other parts"
        )
    example = next((f", line {s[3]} is `{s[4][:60]}`" for s in statistics["skips"]), "")
    raise TraceError(f"no ftrace event in `{path}`, found {statistics['lines']} lines of something else{example}")


def diagnostics(paths: Sequence[Path], found: Mapping[str, Any]) -> list[Diagnostic]:
    """Report skipped and lost parts; `found` is the metadata of a pass."""
    diagnostics = []
    for path, statistics in zip(paths, found["files"], strict=True):
        file = str(path)
        for key, reason, count, line, text in statistics["skips"]:
            example = f"line {line}: {text.strip()}"[:200]
            diagnostics.append(Diagnostic(file, reason, count, example, incomplete=key in INCOMPLETE))
        if statistics["foreign"]:
            diagnostics.append(Diagnostic(file, "part of the page is not ftrace text", statistics["foreign"]))
        if statistics["damaged"]:
            reason = "part of the page cannot be decompressed"
            diagnostics.append(Diagnostic(file, reason, statistics["damaged"], incomplete=True))
        if statistics["broken"]:
            diagnostics.append(
                Diagnostic(file, "file is damaged or ends early", 1, statistics["broken"], incomplete=True)
            )
        diagnostics += _ended_early(file, statistics)
    first = str(paths[0])
    if found["invalid"]:
        diagnostics.append(Diagnostic(first, "text is not UTF-8", found["invalid"]))
    if found["left_out"]:
        reason = "event name beyond the limit of 10000"
        diagnostics.append(Diagnostic(first, reason, found["left_out"], incomplete=True))
    return diagnostics


def _ended_early(file: str, statistics: Mapping[str, Any]) -> list[Diagnostic]:
    """Report a file that is known to be incomplete, or to have an unknown form."""
    diagnostics = []
    if statistics.get("open"):
        diagnostics.append(Diagnostic(file, "file ends in the middle of a line", 1, incomplete=True))
    unread = sum(count for key, _, count, _, _ in statistics["skips"] if key in UNREAD)
    missing = statistics.get("promised", 0) - statistics["events"] - unread
    if missing > 0:
        reason = "event that the header counts and the file lacks"
        example = f"the header says {statistics['promised']}, the file has {statistics['events']}"
        diagnostics.append(Diagnostic(file, reason, missing, example, incomplete=True))
    return diagnostics + mostly_unread(file, statistics["events"] + unread, unread)


def properties(found: Mapping[str, Any]) -> dict[str, str]:
    """Return the properties of the trace."""
    found_out = {"start_ns": str(found["start_ns"])}
    for name in ("tracer", "kernel"):
        value = next((statistics[name] for statistics in found["files"] if statistics[name]), None)
        if value:
            found_out[name] = value
    mark = found.get("wall_clock")
    unix = None if mark is None else unix_start((mark[0], mark[1]), found["start_ns"])
    if unix is not None:
        found_out["start_unix_ns"] = str(unix)
    return found_out
