"""Build chunks of described tables from spans of distributed tracing (OTLP, Jaeger), their events, logs and metrics."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dctv.contracts.chunks import LINE, RAW, Checkpoint, DecodedChunk
from dctv.contracts.reader import LoadContext
from dctv.readers.service_spans.documents import Trouble, elements
from dctv.record import field, record
from dctv.types.schema import TS

ROWS = 50_000
FAR = 10 * 365 * 86_400 * 10**9
"""Ten years, in ns."""
FAR_REASON = "time is more than ten years from the trace's others, left out"

_SHARED = [
    (TS, "int", "ns"),
    ("name", "text", ""),
    ("cat", "text", ""),
    ("pid", "int", ""),
    ("tid", "int", ""),
    ("track", "int", ""),
    ("line", "int", ""),
    ("args", "json", ""),
]
_IDS = [("trace_id", "text", ""), ("span_id", "text", "")]
TABLES: Mapping[str, list[tuple[str, str, str]]] = {
    "span": [
        *_SHARED,
        ("dur", "int", "ns"),
        *_IDS,
        ("parent_span_id", "text", ""),
        ("kind", "text", ""),
        ("status", "text", ""),
        ("service", "text", ""),
    ],
    "span_event": [*_SHARED, *_IDS],
    "log": [*_SHARED, *_IDS, ("severity", "text", ""), ("service", "text", "")],
    "metric": [*_SHARED, ("value", "float", ""), ("unit", "text", ""), ("service", "text", "")],
}
_TRACKS = [
    ("track", "int", ""),
    ("kind", "text", ""),
    ("name", "text", ""),
    ("pid", "int", ""),
    ("host", "text", ""),
    ("unit", "text", ""),
]


@record(frozen=False)
class SpanRows:
    """Rows of all tables since the last chunk."""

    waiting: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    tracks: dict[tuple[Any, ...], int] = field(default_factory=dict)
    new: list[tuple[Any, ...]] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)
    count: int = 0
    first: int | None = None
    last: int = 0
    middle: int | None = None
    """The median of the first rows' times."""

    def add(self, table: str, row: Mapping[str, Any]) -> None:
        """Add a row; one with a time that is not an integer, or not after 1970, is counted instead."""
        ts, dur = row[TS], row.get("dur")
        if ts is None or not 0 < ts < 1 << 62 or (dur or 0) >= 1 << 62:
            self.skip(f"{table.replace('_', ' ')} without a time")
            return
        if dur is not None and dur < 0:
            self.skip("span ends before it begins, its duration is NULL")
            row = {**row, "dur": None}
        self.count += 1
        self.waiting.setdefault(table, []).append({**row, "line": self.count})

    def drop_outliers(self) -> None:
        """Drop rows that are further from most times than any trace lasts, and set the start of the rest."""
        times = [row[TS] for rows in self.waiting.values() for row in rows]
        if self.middle is None and times:
            self.middle = sorted(times)[(len(times) - 1) // 2]
        middle = self.middle or 0
        for table, rows in self.waiting.items():
            near = [row for row in rows if abs(row[TS] - middle) <= FAR >= (row.get("dur") or 0)]
            self.skipped[FAR_REASON] = self.skipped.get(FAR_REASON, 0) + len(rows) - len(near)
            self.waiting[table] = near
            for row in near:
                self.first = row[TS] if self.first is None else min(self.first, row[TS])
                self.last = max(self.last, row[TS] + (row.get("dur") or 0))
        self.waiting = {table: rows for table, rows in self.waiting.items() if rows}

    def skip(self, reason: str) -> None:
        """Count something that is skipped."""
        self.skipped[reason] = self.skipped.get(reason, 0) + 1

    def track(
        self, kind: str, name: str, pid: int | None, host: str | None, unit: str | None = None, series: str = ""
    ) -> int:
        """Return the number of a track; a metric has one for each of its series."""
        key = (kind, name, pid, host, unit, series)
        if key not in self.tracks:
            self.tracks[key] = len(self.tracks)
            self.new.append((self.tracks[key], *key[:-1]))
        return self.tracks[key]


Take = Callable[[str, Any, SpanRows], None]
"""Converts one element of a document to rows: its member's name, the element, the rows."""


class SpanPass:
    """One pass over documents of spans."""

    def __init__(self, take: Take, paths: Sequence[Path], context: LoadContext, _: int) -> None:
        self._take = take
        self._paths = paths
        self._context = context
        self._rows = SpanRows()
        self._troubles = [Trouble() for _ in paths]
        self._seen: set[str] = set()

    def __iter__(self) -> Iterator[DecodedChunk]:
        number = 0
        for file, path in enumerate(self._paths):
            for member, element in elements(path, self._troubles[file]):
                self._take(member, element, self._rows)
                if sum(map(len, self._rows.waiting.values())) >= ROWS:
                    yield self._chunk(file, number)
                    number += 1
                    self._context.progress(file, len(self._paths))
            if self._rows.waiting or self._rows.new:
                yield self._chunk(file, number)
                number += 1

    def _chunk(self, file: int, number: int) -> DecodedChunk:
        import pyarrow as pa

        rows = self._rows
        rows.drop_outliers()
        events = []
        first = 0
        for name, waiting in rows.waiting.items():
            columns = [_array([row.get(column) for row in waiting], kind) for column, kind, _ in TABLES[name]]
            names = [column for column, _, _ in TABLES[name]]
            lines = pa.array(range(first, first + len(waiting)), pa.uint32())
            events.append((name, pa.record_batch([*columns, lines], names=[*names, LINE])))
            first += len(waiting)
        self._seen.update(rows.waiting)
        others = []
        if rows.new:
            columns = [
                _array(list(values), kind)
                for values, (_, kind, _) in zip(zip(*rows.new, strict=True), _TRACKS, strict=True)
            ]
            others = [("tracks", pa.record_batch(columns, names=[name for name, _, _ in _TRACKS]))]
        rows.waiting, rows.new = {}, []
        place = Checkpoint(file, number, number, 1, number, 1, 0, None, 0, rows.count - first, first, packed=False)
        return DecodedChunk(place, events, others)

    def metadata(self) -> Mapping[str, Any]:
        """Return the metadata."""
        skipped = self._rows.skipped.items()
        notes = [(0, reason, count, "", reason == FAR_REASON) for reason, count in skipped if count]
        for file, trouble in enumerate(self._troubles):
            if trouble.bad:
                notes.append((file, "text is not JSON", trouble.bad, trouble.example, False))
            if trouble.cut:
                notes.append((file, "the file ends inside of a value", 1, "", True))
        first = self._rows.first or 0
        tables = [
            {"name": f"{RAW}{name}", "columns": columns, "event": _event(name, columns)}
            for name, columns in TABLES.items()
            if name in self._seen
        ]
        return {
            "start_ns": first,
            "last_ts": max(0, self._rows.last - first),
            "tables": [*tables, {"name": "tracks", "columns": _TRACKS, "event": None}],
            "diagnostics": notes,
            "properties": {"clock": "realtime", "start_unix_ns": str(first)},
        }


def _event(name: str, columns: Sequence[tuple[str, str, str]]) -> dict[str, Any]:
    duration = "dur" if any(column == "dur" for column, _, _ in columns) else None
    shown = {TS, "name", "cat", "pid", "tid", "track", "line", "dur"}
    args = [column for column, _, _ in columns if column not in shown]
    roles = {"named_by": "name", "category": "cat", "pid": "pid", "tid": "tid", "duration": duration}
    return {"name": name, **roles, "args": args}


def _array(values: Sequence[Any], kind: str) -> Any:
    import pyarrow as pa

    if kind == "json":
        return pa.array([text(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) for value in values])
    types = {"int": pa.int64(), "float": pa.float64()}
    return pa.array(values, types.get(kind, pa.string()))


def int64_or_none(value: object) -> int | None:
    """Return a number or numeric text as an integer that fits into 64 bits, else None."""
    if isinstance(value, str) and value[value[:1] in {"+", "-"} :].isdecimal() and len(value) < 24:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    fits = isinstance(value, int) and not isinstance(value, bool) and -(1 << 63) <= value < 1 << 63
    return int(value) if fits and isinstance(value, int) else None


def text(value: object) -> str | None:
    """Return a text that is valid UTF-8, with numbers and truth values as texts, else None."""
    if value is None or isinstance(value, dict | list):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).encode("utf-8", "replace").decode()


def members(value: object) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of an array; nothing for other values."""
    if isinstance(value, list):
        yield from (one for one in value if isinstance(one, dict))
