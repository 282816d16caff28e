"""Merge the metadata of an ftrace trace's chunks into that of the whole trace, in the form of JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dctv.readers.ftrace_events.clock_marks import MARKS, ClockMark, first_mark
from dctv.readers.ftrace_events.fields import FIXED, OPTIONAL

if TYPE_CHECKING:
    from dctv._kernels import FtraceColumn, FtraceEnd

REASONS = (
    "unknown",
    "stack",
    "unnamed",
    "bad_time",
    "too_long",
    "too_many_events",
    "lost",
    "overwritten",
    "failed_to_parse",
    "bad_mark",
    "whole_time",
    "timeless",
)
"""Reasons for skipped lines, in the order of their diagnostics."""
TABLE_LIMIT = 10_000
"""The maximum number of event names with tables."""

Column = list[Any]
"""Name, type of values, whether some are negative, whether some are integers that no float represents, floats."""


def mixed(one: Column, other: Column) -> Column:
    """Merge a column's metadata from two chunks."""
    negative, inexact = one[2] or other[2], one[3] or other[3]
    kinds = {one[1], other[1]} - {"empty"}
    if len(kinds) <= 1:
        kind = next(iter(kinds), "empty")
        kind = "text" if kind == "uint" and negative else kind
    elif kinds == {"int", "uint"} and not negative:
        kind = "uint"
    elif kinds == {"int", "float"} and not inexact:
        kind = "float"
    else:
        kind = "text"
    return [one[0], kind, negative, inexact, one[4] or other[4]]


def texts_of(entries: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return, by event, the columns where numbers with a decimal point must stay as printed."""
    found = {
        event["name"]: [name for name, kind, _, _, floats in event["columns"] if floats and kind == "text"]
        for event in entries.get("events", ())
    }
    return {name: columns for name, columns in found.items() if columns}


def lacking(entries: Mapping[str, Any]) -> list[str]:
    """Return the optional columns that no event of the trace has."""
    columns = {name: FIXED.index(name) for name in OPTIONAL}
    return [
        name for name, at in columns.items() if all(event["columns"][at][1] == "empty" for event in entries["events"])
    ]


class GatheredMetadata:
    """The metadata merged so far."""

    def __init__(self, paths: Sequence[str], hints: Mapping[str, Any]) -> None:
        """Start with only the columns, by event, where numbers stay as printed; `hints` is of an earlier pass."""
        self._texts = {name: frozenset(columns) for name, columns in texts_of(hints).items()}
        self._marks: list[ClockMark] = []
        self._marked: Sequence[int] | None = hints.get("wall_clock")
        self._hinted = bool(hints)
        self._files: list[dict[str, Any]] = [_file(path) for path in paths]
        self._events: dict[str, dict[str, Any]] = {}
        self._range: tuple[int, int] | None = None
        self._invalid = 0
        self._left_out = 0

    def add(self, chunk: Any) -> list[tuple[str, Any]]:
        """Add a chunk's metadata; return its events that are kept."""
        place, kept = chunk.checkpoint, []
        for (name, batch), columns, printed in zip(chunk.events, chunk.columns, chunk.printed, strict=True):
            if name not in self._events and len(self._events) >= TABLE_LIMIT:
                self._left_out += batch.num_rows
                continue
            kept.append((name, batch))
            if name == MARKS and not self._hinted:
                self._marks += filter(None, [first_mark(batch)])
            self._add_metadata(name, batch.num_rows, columns, printed)
        low, high = chunk.range
        if low <= high:
            time_range = self._range or (low, high)
            self._range = (min(low, time_range[0]), max(high, time_range[1]))
        self._invalid += chunk.invalid
        self._add_diagnostic(self._files[place.file], chunk.statistics, place.first_line)
        return kept

    def _add_metadata(
        self, name: str, rows: int, columns: Sequence[FtraceColumn], printed: Sequence[tuple[str, int]]
    ) -> None:
        event = self._events.setdefault(name, {"name": name, "rows": 0, "columns": {}, "printed": {}})
        event["rows"] += rows
        texts = self._texts.get(name, frozenset())
        for one in columns:
            new = [one.name, one.kind, one.negative, one.inexact, one.kind == "float" or one.name in texts]
            old = event["columns"].get(one.name)
            event["columns"][one.name] = mixed(old, new) if old else new
        for text, count in printed:
            event["printed"][text] = event["printed"].get(text, 0) + count

    def _add_diagnostic(self, file: dict[str, Any], statistics: Mapping[str, Any], first_line: int) -> None:
        for key in ("lines", "events", "blank", "headers", "promised"):
            file[key] += statistics[key]
        for key in ("tracer", "kernel"):
            file[key] = statistics[key] if file[key] is None else file[key]
        for key, text, count, line, example in statistics["skips"]:
            skipped = file["skips"].setdefault(key, [key, text, 0, first_line + line, example])
            skipped[2] += count

    def finished(self, ends: Sequence[FtraceEnd]) -> dict[str, Any]:
        """Return the metadata; `ends` has the state at the end of each file."""
        before = 0
        for file in self._files:
            file["before"] = before
            before += file["lines"]
        for end in ends:
            file = self._files[end.file]
            file.update(broken=end.broken, foreign=end.foreign, damaged=end.damaged, open=end.open)
        start, last = self._range or (0, 0)
        return {
            "start_ns": start,
            "last_ts": last - start,
            "wall_clock": self._marked if self._hinted else min(self._marks, default=None),
            "files": [{**f, "skips": [f["skips"][key] for key in REASONS if key in f["skips"]]} for f in self._files],
            "events": [
                {**e, "columns": list(e["columns"].values()), "printed": [[*pair] for pair in e["printed"].items()]}
                for e in self._events.values()
            ],
            "invalid": self._invalid,
            "left_out": self._left_out,
        }


def _file(path: str) -> dict[str, Any]:
    counts = dict.fromkeys(("lines", "events", "blank", "headers", "promised", "foreign", "damaged"), 0)
    return {"path": path, **counts, "open": False, "broken": None, "tracer": None, "kernel": None, "skips": {}}
