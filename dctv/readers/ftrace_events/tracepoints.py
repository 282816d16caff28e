"""Add units that are certain in the kernel, and the wall clock of marks, to tables of tracepoints.

The kernels' `Tracepoints` parse the `format` files of the kernel, and name columns by the events' fields. The meaning
of the numbers depends on the events' names: see `ftrace_fields`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dctv.contracts.chunks import RAW, DecodedChunk
from dctv.readers.described import TYPES, RowPass
from dctv.readers.ftrace_events.clock_marks import MARKS, ClockMark, first_mark, unix_start
from dctv.readers.ftrace_events.fields import FIXED, unit_of

_BUFFER = "buffer"
_THREAD = "common_pid"
"""The thread of tracepoints; a pass of perf has other tables too, such as those of samples."""


class TracepointPass:
    """A pass over a trace with tracepoints as raw events."""

    def __init__(self, run: RowPass) -> None:
        """Wrap the pass that decodes."""
        self._run = run
        self._marks: list[ClockMark] = []

    def __iter__(self) -> Iterator[DecodedChunk]:
        """Yield the chunks of the wrapped pass."""
        for chunk in self._run:
            self._marks += filter(None, [first_mark(batch) for name, batch in chunk.events if name == MARKS])
            yield chunk

    def metadata(self) -> Mapping[str, Any]:
        """Return the metadata of the wrapped pass, with units and with all fields as arguments of events.

        A mark of the wall clock tells when the trace began, unless the trace tells it itself.
        """
        entries = self._run.metadata()
        marked = unix_start(min(self._marks), entries["start_ns"]) if self._marks else None
        told = {} if marked is None else {"start_unix_ns": str(marked)}
        tables = [_described(table) for table in entries["tables"]]
        return {**entries, "tables": tables, "properties": {**told, **entries["properties"]}}


def _described(table: Mapping[str, Any]) -> Mapping[str, Any]:
    event = table["event"]
    if event is None or event["tid"] != _THREAD:
        return table
    name = table["name"].removeprefix(RAW)
    columns = [(column, kind, unit or unit_of(name, column, TYPES[kind])) for column, kind, unit in table["columns"]]
    args = [column for column, _, _ in columns if column not in {*FIXED, _BUFFER}]
    return {**table, "columns": columns, "event": {**event, "args": args}}
