"""What a trace format must bring: a sniffer and a loader."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dctv.types.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a file, from which its format is told."""

    path: Path
    raw: bytes
    """The first bytes as stored, at most 64 KiB."""
    text: bytes
    """The same after gunzipping, where the file is gzip; at most 64 KiB."""


@dataclass(frozen=True, slots=True)
class EventColumns:
    """How the rows of one raw event table look in `events`, the table of all events of a trace."""

    name: str
    """The event's name, the same for all rows."""
    category: str | None = None
    """Name of the column with the category, or None; so the next three."""
    pid: str | None = None
    tid: str | None = None
    duration: str | None = None
    args: tuple[str, ...] = ()
    """Names of the columns that become members of `args`."""


@dataclass(frozen=True, slots=True)
class TraceTable:
    """One table of a mounted trace, ready to be scanned."""

    schema: Schema
    """Names, types (as the engine names them) and units, `_ts` first for event tables."""
    data: pa.Table
    """The same columns in the same order; event tables ascending in `_ts`, which starts at 0 for the trace."""
    event: EventColumns | None = None
    """Set for raw event tables: the session makes `events` of them, so no reader builds that table."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something of a trace that was skipped, repaired or lost, with how often."""

    file: str
    reason: str
    """A short stable phrase: `line is not JSON`, `events lost by the kernel`."""
    count: int
    example: str = ""
    """Where the first one is and how it begins: `line 12: {"id":`; at most 200 characters."""
    incomplete: bool = False
    """Whether the trace was not read whole because of it (exit code 3 unless --allow-partial)."""


@dataclass(frozen=True, slots=True)
class LoadedTrace:
    """All that a reader made of the files of one trace."""

    tables: Mapping[str, TraceTable]
    """By dotted name below the mount: `raw_events.sched_switch`, `events`."""
    diagnostics: Sequence[Diagnostic]
    last_ts: int
    """The largest timestamp (or end of a complete event), in ns since the first event; 0 for an empty trace."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """`clock`, `start_ns` (absolute time of `_ts` 0), `writer` and the like."""


@dataclass(frozen=True, slots=True)
class LoadContext:
    """What a loader is given besides the files."""

    options: Mapping[str, object]
    """Options of MOUNT TRACE ... WITH (...); a loader refuses names that it does not know."""
    threads: int
    progress: Callable[[int, int], None]
    """Call with bytes done and bytes in all; raises Interrupted when the user has had enough."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A trace format."""

    name: str
    """`dftracer`, `ftrace-text`: cited by `SHOW TABLES`, errors and `-- formats:` lines of the standard library."""
    title: str
    suffixes: tuple[str, ...]
    """File name endings that mark members of a trace in a folder, such as `.pfw.gz`."""
    sniff: Callable[[Head], bool]
    """Whether the bytes (never the name alone) look like this format."""
    load: Callable[[Sequence[Path], LoadContext], LoadedTrace]
    """Read all files of one trace into one time base; raises TraceError."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options that `load` knows, each with one line of documentation."""
