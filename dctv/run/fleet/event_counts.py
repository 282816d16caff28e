"""Answer a question about events from the kept metadata of each trace; no trace is opened."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from dctv.index.answers import SPREADS, spread
from dctv.plan.nodes import physical_names
from dctv.plan.question import Aggregate, Cell, Question
from dctv.record import record
from dctv.run.fleet.members import TRACE, FleetMember, is_as_it_was
from dctv.run.fleet.metadata import EventDurations, MemberMetadata, StoredTables
from dctv.run.fleet.table import EVENTS, FleetTable
from dctv.types.schema import DURATION, TS, ColumnType

_NAME = "name"
"""The column of `events` that the index counts by."""
_KEYS = ("VARCHAR", "BIGINT")
"""Types of manifest columns whose values are used as they are."""
_OF_DURATIONS = ("count", "sum", "min", "max", "avg", *SPREADS)


@record(frozen=False)
class _Group:
    """The events of one group."""

    count: int = 0
    durations: EventDurations | None = None

    def add(self, count: int, durations: EventDurations | None) -> None:
        """Add events of one name in one trace."""
        self.count += count
        if durations is not None:
            self.durations = durations if self.durations is None else self.durations + durations

    def cell(self, one: Aggregate) -> Cell:
        """Return the value of an aggregate over them."""
        taken = self.durations
        if one.column != DURATION:
            return self.count
        if taken is None:
            return 0 if one.function == "count" else None
        known = {"count": taken.count, "sum": taken.total, "min": taken.least, "max": taken.most}
        if one.function in SPREADS:
            return spread(one.function, taken.count, taken.total, taken.squares)
        return known[one.function] if one.function in known else taken.total / taken.count


def counted(
    table: FleetTable,
    question: Question,
    members: Sequence[FleetMember],
    metadata: Mapping[str, MemberMetadata],
    stored: StoredTables,
) -> Sequence[Sequence[Cell]] | None:
    """Count the events of a table, and add up their durations, by name, trace, or columns of the manifest.

    Return None for any other question, if the answer is not known for all traces, or if one has changed since.
    """
    fixed, events = _fixed(table), table.parts == (EVENTS,)
    if not all(key in fixed or (events and key == _NAME) for key in question.keys):
        return None
    never_null = {TS, *(name for name, column in fixed.items() if column == TRACE), *([_NAME] if events else [])}
    if not all(_is_counted(one, never_null, events=events) for one in question.aggregates):
        return None
    timed = any(one.column == DURATION for one in question.aggregates)
    groups: dict[tuple[Cell, ...], _Group] = {} if question.keys else {(): _Group()}
    for member in members:
        known = metadata[member.name]
        names = _named(table, known, stored)
        if names is None or (timed and known.durations is None) or not is_as_it_was(member, known.state):
            return None
        for name, count in names.items():
            key = tuple(
                name if key not in fixed else member.name if fixed[key] == TRACE else member.cell(fixed[key])
                for key in question.keys
            )
            groups.setdefault(key, _Group()).add(count, (known.durations or {}).get(name))
    return [[*key, *(group.cell(one) for one in question.aggregates)] for key, group in groups.items()]


def _fixed(table: FleetTable) -> Mapping[str, ColumnType]:
    """Return the columns that are constant in each trace and have a usable value, as plans call them."""
    named = zip(physical_names(table.schema), table.schema.columns, strict=True)
    return {name: one for name, one in named if table.is_fixed(one) and one.type in _KEYS}


def _is_counted(one: Aggregate, never_null: Collection[str], *, events: bool) -> bool:
    """Whether an aggregate is the number of rows, as that of columns which are never NULL, or about durations."""
    if events and one.column == DURATION:
        return one.function in _OF_DURATIONS
    return one.function == "count" and (one.column is None or one.column in never_null)


def _named(table: FleetTable, known: MemberMetadata, stored: StoredTables) -> Mapping[str, int] | None:
    """Return the row counts of a table in a trace, by name of event; None if unknown."""
    if known.counts is None:
        return None
    if table.parts != (EVENTS,):
        name = ".".join(table.parts)
        if name in known.tables:
            return known.counts.get(name)
        # A view is stored in no trace, and may have rows.
        return {} if (known.format, name) in stored else None
    found: dict[str, int] = {}
    for one in known.counts.values():
        for name, count in one.items():
            found[name] = found.get(name, 0) + count
    return found
