"""What was met in the files of an ftrace trace -> refusals, diagnostics and properties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dctv.contracts.reader import Diagnostic
from dctv.contracts.unread import mostly_unread
from dctv.errors import TraceError

INCOMPLETE = {"too_long", "too_many_events"}
"""Reasons for which a part of the trace is missing from the tables though nothing was wrong with the events."""
UNREAD = {"unknown", "unnamed", "bad_time", "too_long", "too_many_events"}
"""Reasons for which nothing of a line is kept."""


def check_options(options: Iterable[str]) -> None:
    """Refuse all options, since there are none."""
    for name in options:
        raise TraceError(f"option `{name}` is unknown to ftrace-text")


def check(path: Path) -> None:
    """Refuse a file that is not there or empty."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise TraceError(f"cannot read `{path}`: {(error.strerror or str(error)).lower()}") from None
    if size == 0:
        raise TraceError(f"`{path}` is empty, expected ftrace text")


def check_met(path: Path, met: Mapping[str, Any]) -> None:
    """Refuse a file in which nothing is ftrace; one with a header and no event is an empty trace."""
    if met["events"] or met["headers"]:
        return
    if met["broken"]:
        raise TraceError(f"cannot read `{path}`: {met['broken']}")
    if met["damaged"] or met["foreign"]:
        raise TraceError(f"no ftrace text in the page `{path}`, found {met['damaged'] + met['foreign']} other parts")
    example = next((f", line {s[3]} is `{s[4][:60]}`" for s in met["skips"]), "")
    raise TraceError(f"no ftrace event in `{path}`, found {met['lines']} lines of something else{example}")


def diagnostics(paths: Sequence[Path], found: Mapping[str, Any]) -> list[Diagnostic]:
    """Tell what was skipped or lost; `found` are the facts of a pass."""
    told = []
    for path, met in zip(paths, found["files"], strict=True):
        file = str(path)
        for key, reason, count, line, text in met["skips"]:
            example = f"line {line}: {text.strip()}"[:200]
            told.append(Diagnostic(file, reason, count, example, incomplete=key in INCOMPLETE))
        if met["foreign"]:
            told.append(Diagnostic(file, "part of the page is not ftrace text", met["foreign"]))
        if met["damaged"]:
            reason = "part of the page does not unpack"
            told.append(Diagnostic(file, reason, met["damaged"], incomplete=True))
        if met["broken"]:
            told.append(Diagnostic(file, "file is damaged or ends early", 1, met["broken"], incomplete=True))
        told += _ended_early(file, met)
    first = str(paths[0])
    if found["invalid"]:
        told.append(Diagnostic(first, "text is not UTF-8", found["invalid"]))
    if found["left_out"]:
        reason = "event name beyond the 10000 that are kept"
        told.append(Diagnostic(first, reason, found["left_out"], incomplete=True))
    return told


def _ended_early(file: str, met: Mapping[str, Any]) -> list[Diagnostic]:
    """Tell whether a file is known to be a part of one, or not to be of a form that is known."""
    told = []
    if met.get("open"):
        told.append(Diagnostic(file, "file ends in the middle of a line", 1, incomplete=True))
    unread = sum(count for key, _, count, _, _ in met["skips"] if key in UNREAD)
    missing = met.get("promised", 0) - met["events"] - unread
    if missing > 0:
        reason = "event that the header counts and the file lacks"
        example = f"the header tells of {met['promised']}, the file has {met['events']}"
        told.append(Diagnostic(file, reason, missing, example, incomplete=True))
    return told + mostly_unread(file, met["events"] + unread, unread)


def properties(found: Mapping[str, Any]) -> dict[str, str]:
    """Return the properties of the trace."""
    found_out = {"start_ns": str(found["start_ns"])}
    for name in ("tracer", "kernel"):
        value = next((met[name] for met in found["files"] if met[name]), None)
        if value:
            found_out[name] = value
    return found_out
