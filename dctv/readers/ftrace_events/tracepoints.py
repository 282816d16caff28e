"""Add units that are certain in the kernel to tables of tracepoints that a pass describes.

The kernels' `Tracepoints` parse the `format` files of the kernel, and name columns by the events' fields. The meaning
of the numbers depends on the events' names: see `ftrace_fields`.
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
    """A pass over a trace with tracepoints as raw events."""

    def __init__(self, run: RowPass) -> None:
        """Wrap the pass that decodes."""
        self._run = run

    def __iter__(self) -> Iterator[DecodedChunk]:
        """Yield the chunks of the wrapped pass."""
        return iter(self._run)

    def metadata(self) -> Mapping[str, Any]:
        """Return the metadata of the wrapped pass, with units and with all fields as arguments of events."""
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
