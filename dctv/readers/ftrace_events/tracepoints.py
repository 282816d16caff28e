"""Tables of kernel tracepoints, as a pass tells them -> the same with the units that the kernel is certain of.

The `format` files of the kernel are read by the kernels (`Tracepoints`), which name the columns by the events' fields.
What the numbers in them are is known only by the events' names: see `ftrace_fields`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dctv.contracts.chunks import DecodedChunk
from dctv.contracts.whole import RAW
from dctv.readers.described import TYPES, RowPass
from dctv.readers.ftrace_events.fields import FIXED, unit_of

_BUFFER = "buffer"


class WithUnits:
    """A pass over a trace whose raw events are tracepoints."""

    def __init__(self, run: RowPass) -> None:
        """Take the pass that decodes."""
        self._run = run

    def __iter__(self) -> Iterator[DecodedChunk]:
        """Yield the chunks of the pass."""
        return iter(self._run)

    def metadata(self) -> Mapping[str, Any]:
        """Return the metadata of the pass, with units and with all fields as arguments of events."""
        entries = self._run.metadata()
        return {**entries, "tables": [_described(table) for table in entries["tables"]]}


def _described(table: Mapping[str, Any]) -> Mapping[str, Any]:
    event = table["event"]
    if event is None:
        return table
    name = table["name"].removeprefix(RAW)
    columns = [(column, kind, unit or unit_of(name, column, TYPES[kind])) for column, kind, unit in table["columns"]]
    args = [column for column, _, _ in columns if column not in {*FIXED, _BUFFER}]
    return {**table, "columns": columns, "event": {**event, "args": args}}
