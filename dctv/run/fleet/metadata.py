"""Cached metadata of each trace of a fleet: its tables, and its skipped parts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from dctv.catalog.mount import Mount
from dctv.catalog.namespace import Catalog
from dctv.catalog.stdlib import library
from dctv.contracts.reader import Diagnostic, EventColumns
from dctv.errors import DctvError, WarningLog, reason_of
from dctv.index.answers import SQUARES
from dctv.index.database import stamp
from dctv.index.location import index_folder, subject
from dctv.index.sources import AllEvents, StoredFileSource
from dctv.index.stored import EVENTS
from dctv.plan.nodes import Scan
from dctv.plan.question import Aggregate, Question
from dctv.record import field, record, replace
from dctv.run.context import ExecutionContext
from dctv.run.fleet.members import FleetMember, file_at, state_of
from dctv.run.mounting import Wanted, mount
from dctv.run.templates import signature
from dctv.syntax import ast
from dctv.types.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Iterator

FUNCTIONS = "dctv"
"""The namespace that every session has."""


@record
class EventDurations:
    """Statistics of the durations of some events, in ns; events without a duration are left out."""

    count: int
    total: int
    squares: int
    least: int
    most: int

    def __add__(self, other: EventDurations) -> EventDurations:
        least, most = min(self.least, other.least), max(self.most, other.most)
        squares = self.squares + other.squares
        return EventDurations(self.count + other.count, self.total + other.total, squares, least, most)


@record
class StoredRows:
    """A file of a column store."""

    path: str
    stamp: str
    """The file system's stamp of it: it has changed if this has."""

    @property
    def is_as_it_was(self) -> bool:
        """Whether it is there, and has not changed."""
        try:
            return stamp(file_at(self.path).stat()) == self.stamp
        except OSError:
            return False


@record
class TraceStore:
    """What is needed to read a trace from its column store."""

    files: Mapping[str, tuple[str, str]]
    """Paths and stamps of its files by table, in the order of its tables; also of tables that a view of the same name
    hides. Tuples are sent to a worker in less time than records, of which a part has thousands."""
    last_ts: int
    properties: Mapping[str, str]
    diagnostics: Sequence[Diagnostic]

    def stored(self, table: str) -> StoredRows | None:
        """Return the file with the rows of a table; None if it has none."""
        return StoredRows(*self.files[table]) if table in self.files else None


@record
class MemberMetadata:
    """Metadata of one trace of a fleet."""

    format: str
    """Whose views of the standard library it has."""
    tables: Mapping[str, Schema]
    """Its stored tables."""
    diagnostics: Sequence[Diagnostic]
    properties: Mapping[str, str]
    last_ts: int
    warnings: Collection[str]
    counts: Mapping[str, Mapping[str, int]] | None = None
    """Numbers of events by table and name; None if only a full read could count them, or if there are many names."""
    durations: Mapping[str, EventDurations] | None = None
    """Durations of events by name, if its index has them; names without any are left out."""
    state: tuple[tuple[str, int, int], ...] = ()
    """Its files, their sizes and times, as they were."""
    stored: Mapping[str, StoredRows] = field(default_factory=dict)
    """The files of its column store, by table, also of tables that a view of the same name hides."""
    signature: str = ""
    """The same for traces with the same tables; empty if it has no column store."""
    events: int | None = None
    """The number of its events, if it has a column store."""
    unindexed: str = ""
    """The folder that its index would be in, if it has none and may have one."""
    error: str = ""
    """Why it cannot be read; then it has nothing else."""

    @property
    def known_events(self) -> int:
        """The number of its events, as far as that is known."""
        return self.events or sum(sum(names.values()) for names in (self.counts or {}).values())

    @property
    def store(self) -> TraceStore:
        """What is needed to read it from its column store."""
        files = {name: (one.path, one.stamp) for name, one in self.stored.items()}
        return TraceStore(files, self.last_ts, self.properties, self.diagnostics)


StoredTables = Collection[tuple[str, str]]
"""Pairs of a format and the name of a table that some trace of this format stores. Another trace of the format without
that table has no rows of it; a name in no such pair may be that of a view, which has rows."""


@record
class MountSettings:
    """Settings for mounting the traces of a fleet."""

    name: str
    """The name of the fleet, also in queries of one trace."""
    options: Mapping[str, object]


@contextmanager
def mounted(
    member: FleetMember, way: MountSettings, context: ExecutionContext, likely: str | None = None
) -> Iterator[tuple[ExecutionContext, Mount]]:
    """Mount one trace where nothing else is; `likely` is the format that it had before.

    Raises:
        TraceError: it cannot be read.
    """
    catalog = Catalog()
    catalog.root.spaces[FUNCTIONS] = context.catalog.root.spaces[FUNCTIONS]
    alone = replace(context, catalog=catalog, mounts={}, log=WarningLog(), unread=[], fleets={}, of_fleet=True)
    try:
        mount(Wanted([member.path], ast.Path.of(way.name), way.options, likely=likely), alone)
        (made,) = alone.mounts.values()
        yield alone, made
    finally:
        alone.unmount()


def metadata_of(context: ExecutionContext, member: FleetMember, way: MountSettings) -> MemberMetadata:
    """Collect the metadata of one trace, or its error if it cannot be read."""
    try:
        state = state_of(member.path)
        with mounted(member, way, context) as (alone, made):
            trace = made.trace
            kind = trace.format or made.reader
            views = {one.parts for one in library().views(kind)}
            # A view that reads a table may have its name.
            shown = {name: table for name, table in trace.tables.items() if tuple(name.split(".")) not in views}
            # What a table's file holds as text has its type once it is read.
            tables = {name: made.given[name]().schema if table.casts else table.schema for name, table in shown.items()}
            warnings = list(alone.log.entries)
            return MemberMetadata(
                kind,
                tables,
                list(trace.diagnostics),
                dict(trace.properties),
                trace.last_ts,
                warnings,
                _counts(made),
                _durations(made),
                state,
                {name: rows for name in (*trace.tables, EVENTS) if (rows := _stored(made, name)) is not None},
                _signature(made),
                _events(made),
                _unindexed(made, member, context),
            )
    except OSError as error:
        what = reason_of(error) if error.filename in (None, member.path) else f"`{error.filename}`: {reason_of(error)}"
        return MemberMetadata("", {}, [], {}, 0, [], error=what)
    except DctvError as error:
        return MemberMetadata("", {}, [], {}, 0, [], error=error.message)


def _stored(made: Mount, name: str) -> StoredRows | None:
    """Return the file with the rows of a table, or of all events; None if they are computed, or stored otherwise."""
    plan = made.given[name]()
    if not isinstance(plan, Scan):
        return None
    source = plan.source.reading(()) if isinstance(plan.source, AllEvents) else plan.source
    found = source.flat if isinstance(source, AllEvents) else source
    if not isinstance(found, StoredFileSource) or not found.has_own_names:
        return None
    return StoredRows(str(found.file.path), found.file.stamp)


def _events(made: Mount) -> int | None:
    """Return the number of events of a trace that has a column store."""
    if not made.sources:
        return None
    plans = (made.given[name]() for name, table in made.trace.tables.items() if table.event is not None)
    rows = [one.source.stored_rows() if isinstance(one, Scan) else None for one in plans]
    return None if None in rows else sum(count for count in rows if count is not None)


def _signature(made: Mount) -> str:
    if not made.sources:
        return ""
    return blake2b(repr(signature(made)).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _unindexed(made: Mount, member: FleetMember, context: ExecutionContext) -> str:
    """Return the folder that the index of a file would be in, if it has none and may have one."""
    if made.sources or not context.policy.when or context.registries.readers[made.reader].chunks is None:
        return ""
    return str(index_folder(subject([Path(member.path)], made.reader, {}), context.policy.index_dir))


_MOST_NAMES = 1_000


def _counts(made: Mount) -> Mapping[str, Mapping[str, int]] | None:
    """Return the number of events by table and name, if the trace's index has it."""
    found: dict[str, Mapping[str, int]] = {}
    for name, table in made.trace.tables.items():
        if table.event is not None:
            by_name = _by_name(made, name, table.event, Aggregate("count"))
            if by_name is None:
                return None
            found[name] = {event: count for event, (count,) in by_name.items() if count}
    return found if sum(map(len, found.values())) <= _MOST_NAMES else None


def _durations(made: Mount) -> Mapping[str, EventDurations] | None:
    """Return the durations of events by name, if the trace's index has them."""
    found: dict[str, EventDurations] = {}
    for name, table in made.trace.tables.items():
        event = table.event
        if event is not None and event.duration is not None:
            asked = (Aggregate(one, event.duration) for one in ("count", "sum", SQUARES, "min", "max"))
            by_name = _by_name(made, name, event, *asked)
            if by_name is None:
                return None
            for called, taken in by_name.items():
                if taken[0]:
                    more = EventDurations(*taken)
                    found[called] = found[called] + more if called in found else more
    return found if len(found) <= _MOST_NAMES else None


def _by_name(made: Mount, table: str, event: EventColumns, *asked: Aggregate) -> Mapping[str, Sequence[int]] | None:
    """Return aggregates by name of a table's events from the index; None if it has none, or if events lack names."""
    keys = () if event.named_by is None else (event.named_by,)
    plan = made.given[table]()
    rows = plan.source.answers(Question(keys, asked)) if isinstance(plan, Scan) else None
    if rows is None or not all(isinstance(row[0], str) for row in rows if keys):
        return None
    return {str(row[0]) if keys else event.name: [_number(one) for one in row[len(keys) :]] for row in rows}


def _number(cell: object) -> int:
    """Return a count or a sum; those of nothing are NULL, and not looked at."""
    return cell if isinstance(cell, int) else 0
