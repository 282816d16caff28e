"""What a fleet knows of each of its traces without reading it again: its tables, and what was skipped of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dctv.catalog.mount import Mount
from dctv.catalog.namespace import Catalog
from dctv.contracts.reader import Diagnostic
from dctv.errors import DctvError, WarningLog
from dctv.plan.nodes import Scan
from dctv.plan.question import Aggregate, Question
from dctv.record import record, replace
from dctv.run.context import ExecutionContext
from dctv.run.fleet.members import Member, state_of
from dctv.run.mounting import Wanted, mount
from dctv.syntax import ast
from dctv.types.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Iterator

FUNCTIONS = "dctv"
"""The namespace that every session has."""


@record
class Facts:
    """What one trace of a fleet is like."""

    format: str
    """Whose views of the standard library it has."""
    tables: Mapping[str, Schema]
    """Its stored tables."""
    diagnostics: Sequence[Diagnostic]
    properties: Mapping[str, str]
    last_ts: int
    warnings: Collection[str]
    names: frozenset[str] | None = None
    """Of its events; None where only reading it would tell, or they are many."""
    state: tuple[tuple[str, int, int], ...] = ()
    """Its files, their sizes and times, as they were."""
    error: str = ""
    """Why it cannot be read; then it has nothing else."""


@record
class Way:
    """How traces of a fleet are mounted."""

    name: str
    """Of the fleet: queries of one trace call it so, too."""
    options: Mapping[str, object]


@contextmanager
def mounted(member: Member, way: Way, context: ExecutionContext) -> Iterator[tuple[ExecutionContext, Mount]]:
    """Mount one trace where nothing else is.

    Raises:
        TraceError: it cannot be read.
    """
    catalog = Catalog()
    catalog.root.spaces[FUNCTIONS] = context.catalog.root.spaces[FUNCTIONS]
    alone = replace(context, catalog=catalog, mounts={}, log=WarningLog(), unread=[], fleets={})
    try:
        mount(Wanted([member.path], ast.Path.of(way.name), way.options), alone)
        (made,) = alone.mounts.values()
        yield alone, made
    finally:
        alone.unmount()


def facts_of(context: ExecutionContext, member: Member, way: Way) -> Facts:
    """Look at one trace; one that cannot be read is told by its error."""
    try:
        state = state_of(member.path)
        with mounted(member, way, context) as (alone, made):
            trace = made.trace
            tables = {name: table.schema for name, table in trace.tables.items()}
            kind = trace.format or made.reader
            warnings = list(alone.log.entries)
            return Facts(
                kind,
                tables,
                list(trace.diagnostics),
                dict(trace.properties),
                trace.last_ts,
                warnings,
                _names(made),
                state,
            )
    except OSError as error:
        return Facts("", {}, [], {}, 0, [], error=(error.strerror or str(error)).lower())
    except DctvError as error:
        return Facts("", {}, [], {}, 0, [], error=error.message)


_MOST_NAMES = 1_000


def _names(made: Mount) -> frozenset[str] | None:
    """Return the names of a trace's events, if its tables and its index tell them."""
    found: set[str] = set()
    for name, table in made.trace.tables.items():
        if table.event is not None and table.event.named_by is None:
            found.add(table.event.name)
        elif table.event is not None:
            plan = made.given[name]()
            source = plan.source if isinstance(plan, Scan) else None
            rows = source.answers(Question((str(table.event.named_by),), (Aggregate("count"),))) if source else None
            if rows is None or not all(isinstance(one, str) for one, _ in rows):
                return None
            found |= {str(one) for one, _ in rows}
    return frozenset(found) if len(found) <= _MOST_NAMES else None
