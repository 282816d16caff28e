"""The interface of a trace format: a sniffer and a loader."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from dctv.contracts.chunks import Checkpoint, ColumnLineage, Pass, TraceMetadata
from dctv.record import Unread, field, record, unread
from dctv.types.schema import Schema
from dctv.types.unit import NO_UNIT, Unit


@record
class Head:
    """The beginning of a file, by which its format is recognized."""

    path: Path
    raw: bytes
    """The first bytes as stored, at most 64 KiB."""
    text: bytes
    """The same after gunzipping, where the file is gzip; at most 64 KiB."""


@record
class EventColumns:
    """The columns of one raw event table in `events`, the table of all events of a trace."""

    name: str
    """The event's name, the same for all rows; of the whole table if `named_by` is set."""
    category: str | None = None
    """Name of the column with the category, or None; so the next three."""
    pid: str | None = None
    tid: str | None = None
    duration: str | None = None
    args: tuple[str, ...] = ()
    """Names of the columns that become members of `args`."""
    named_by: str | None = None
    """Name of the column with each event's own name, where the table holds events of many names."""


@record
class TraceTable:
    """One table of a mounted trace, ready to be scanned."""

    schema: Schema
    """Names, types (as the engine names them) and units, `_ts` first for event tables."""
    data: Any
    """A pyarrow Table of the same columns in the same order; event tables ascending in `_ts`, which starts at 0 for the
    trace. None where only the schema is wanted."""
    event: EventColumns | None = None
    """Set for raw event tables: the session makes `events` of them, so no reader builds that table."""
    rows: Callable[[], Sequence[Sequence[str | int | bool | None]]] | None = None
    """Gives the rows of a small table in place of `data`, so that telling of it takes no pyarrow."""
    casts: Mapping[str, str] = field(default_factory=dict)
    """Types, as the engine names them, of columns whose values `data` and `schema` have as texts."""


@cache
def declared_unit(text: str) -> Unit:
    """Return the unit that a text means; it is parsed on first use."""

    def read() -> Unit:
        from dctv.types.units import parse_unit

        return parse_unit(text)

    return unread(Unit, read) if text else NO_UNIT


@record
class Diagnostic:
    """Something of a trace that was skipped, repaired or lost, with how often."""

    file: str
    reason: str
    """A short stable phrase: `line is not JSON`, `events lost by the kernel`."""
    count: int
    example: str = ""
    """The place and the beginning of the first one: `line 12: {"id":`; at most 200 characters."""
    incomplete: bool = False
    """Whether the trace was not read whole because of it (exit code 3 unless --allow-partial)."""


@record
class LoadedTrace:
    """The output of a reader for the files of one trace."""

    tables: Mapping[str, TraceTable]
    """By dotted name below the mount: `raw_events.sched_switch`, `events`."""
    diagnostics: Sequence[Diagnostic]
    last_ts: int
    """The largest timestamp (or end of a complete event), in ns since the first event; 0 for an empty trace."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """`clock`, `start_ns` (absolute time of `_ts` 0), `writer` and the like."""
    format: str = ""
    """The format whose views of the standard library read its events, if that is not the reader's own."""


@record
class LoadContext:
    """The input of a loader besides the files."""

    options: Mapping[str, object]
    """Options of MOUNT TRACE ... WITH (...); a loader refuses names that it does not know."""
    threads: int
    progress: Callable[[int, int], None]
    """Call with the bytes done and the total bytes; raises Interrupted after the user's interrupt."""


def one_family(metadata: TraceMetadata) -> Sequence[str]:
    """Return the families of a format whose lines mean the same in every file."""
    return [""] * len(metadata.entries["files"])


ARROW_TYPES = {"BIGINT": "int64", "UBIGINT": "uint64", "DOUBLE": "double", "BOOLEAN": "bool"}
"""The engine's types of columns that are not texts, as streams call them."""


@record
class StoredColumn:
    """A column of a finished table, made of a decoded one."""

    name: str
    type: str
    """`int64`, `uint64`, `double`, `bool` or `string`; values are cast to it."""
    decoded: str
    """Its name in chunks; a column that no chunk has is NULL."""
    added: tuple[int, ...] = ()
    """Offsets added to its values: none, one for all, or one for each file."""


@record
class ChunkReader(Unread):
    """The functions that read traces of a format in chunks; set on a Reader."""

    dimensions: Mapping[str, str]
    """The default dimensions of the index (`cat`, `fhash`), each with its column of the decoded events. The
    event's name always is, as `name`, and so are times and durations; `args.size` means the column `size`."""
    start: Callable[[Sequence[Path], LoadContext, Mapping[str, Any] | None, int], Pass]
    """Begin a pass; takes metadata of an earlier one as a hint, and the chunk size in bytes. Raises TraceError."""
    tables: Callable[[TraceMetadata], Mapping[str, TraceTable]]
    """Schemas of `raw_events.<name>` and of the tables in `others`, in the order of `Reader.load`, with `data` None."""
    finished: Callable[[TraceMetadata, str, Any], Any]
    """A table's name as in `tables` and one pyarrow RecordBatch of its decoded rows (columns unified over all chunks,
    and `FILE` as the last one) -> the batch with the columns and values that `Reader.load` gives."""
    lineage: Callable[[TraceMetadata, str], Mapping[str, ColumnLineage]]
    """For an event table: which of its columns are dimensions; those that are not just so are left out."""
    rest: Callable[[TraceMetadata], LoadedTrace]
    """The trace without those tables: small tables (`files`), diagnostics, properties, `last_ts`."""
    decode: (
        Callable[[Sequence[Path], Sequence[Checkpoint], TraceMetadata, LoadContext], Mapping[str, TraceTable]] | None
    )
    """The same tables with the rows of some chunks only, as `Reader.load` gives them, events ascending in `_ts`. None
    if the format can only be read from its beginning on: then only the column store saves reading it again."""
    families: Callable[[TraceMetadata], Sequence[str]] = one_family
    """A name for each file: lines of files of one name may stand in one file and mean the same. Files with another time
    unit, or with other texts for the same hashes, are of another family."""
    stored: Callable[[TraceMetadata, str], Sequence[StoredColumn]] | None = None
    """For a table's name: how its columns come out of decoded ones. None if that takes more than names and sums; then
    the column store calls `finished`."""
    diagnostics: Callable[[TraceMetadata], Sequence[Diagnostic]] | None = None
    """The diagnostics of `rest` alone, where those are cheaper to find."""


@record
class Records:
    """The form of a trace's events as records, one JSON object a line."""

    unit: str = "ns"
    """The unit of their times, which are absolute, and of their durations: `us`."""
    head: tuple[str, ...] = ()
    """Lines to write before them, so that they can be read as a trace of the format again."""


def plain_records(_: Mapping[str, str]) -> Records:
    """Return the form of events for formats that have no such records of their own."""
    return Records()


@record
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
    chunks: ChunkReader | None = None
    """Reads its traces in chunks, so that they can be indexed; None if they can only be read whole."""
    folder: Callable[[Path], Sequence[Path] | None] | None = None
    """For formats whose traces are folders: the files of the trace in a folder, None if it is not one of the format."""
    entry: str | None = None
    """The file of such a folder that means the whole folder."""
    byte_names: bool = False
    """Whether its files may have names that are not UTF-8."""
    general: bool = False
    """Whether files of more specific formats match this one too: its sniffer runs after all others."""
    records: Callable[[Mapping[str, str]], Records] = plain_records
    """From a trace's properties to how its events are written by `dctv view`."""
