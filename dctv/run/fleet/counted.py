"""A question how many events there are -> the answer from what is kept of each trace, none of which is opened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from dctv.plan.nodes import physical_names
from dctv.plan.question import Aggregate, Cell, Question
from dctv.run.fleet.facts import Facts
from dctv.run.fleet.members import TRACE, Member, state_of
from dctv.run.fleet.table import EVENTS, FleetTable
from dctv.types.schema import TS, ColumnType

_NAME = "name"
"""The column of `events` that the index counts by."""
_KEYS = ("VARCHAR", "BIGINT")
"""Types of columns of a manifest that are told as they are."""


def counted(
    table: FleetTable, question: Question, members: Sequence[Member], facts: Mapping[str, Facts]
) -> Sequence[Sequence[Cell]] | None:
    """Count the rows of a table of events by name, by trace, or by what the manifest says of the traces.

    Return None if anything else is asked, if it is not known of all traces, or if one has changed since.
    """
    fixed = _fixed(table)
    events = table.parts == (EVENTS,)
    if not all(key in fixed or (events and key == _NAME) for key in question.keys):
        return None
    if not all(_is_count(one, events=events) for one in question.aggregates):
        return None
    found: Counter[tuple[Cell, ...]] = Counter()
    for member in members:
        known = facts[member.name]
        if known.counts is None or not _is_as_it_was(member, known):
            return None
        if not events and ".".join(table.parts) not in known.tables:
            continue
        names = _named(table, known.counts)
        if names is None:
            return None
        for name, count in names:
            key = tuple(
                name if key not in fixed else member.name if fixed[key] == TRACE else member.cell(fixed[key])
                for key in question.keys
            )
            found[key] += count
    if not question.keys and not found:
        found[()] = 0
    return [[*key, *(count for _ in question.aggregates)] for key, count in found.items()]


def _fixed(table: FleetTable) -> Mapping[str, ColumnType]:
    """Return the columns that are the same in all rows of a trace, and can be told, as plans call them."""
    named = zip(physical_names(table.schema), table.schema.columns, strict=True)
    return {name: one for name, one in named if table.is_fixed(one) and one.type in _KEYS}


def _is_count(one: Aggregate, *, events: bool) -> bool:
    """Whether an aggregate is the number of rows: these columns are never NULL."""
    never_null = (TS, TRACE.name, *((_NAME,) if events else ()))
    return one.function == "count" and (one.column is None or one.column in never_null)


def _named(table: FleetTable, counts: Mapping[str, Mapping[str, int]]) -> Iterator[tuple[str, int]] | None:
    """Return how many rows of a table there are in a trace, by name of event; None if that is not known."""
    if table.parts == (EVENTS,):
        return (pair for one in counts.values() for pair in one.items())
    found = counts.get(".".join(table.parts))
    return None if found is None else iter(found.items())


def _is_as_it_was(member: Member, known: Facts) -> bool:
    """Whether the files of a trace are those that were looked at."""
    try:
        return state_of(member.path) == known.state
    except OSError:
        return False
