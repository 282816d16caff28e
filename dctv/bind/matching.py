"""Make plans of the events that match a filter: as records, as the columns of `events`, or counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dctv.bind.filter_tests import Condition
from dctv.bind.filters import EventTable, FilterBinder, RecordTimes
from dctv.bind.records import RecordClock, args_of, record_of
from dctv.catalog.mount import events_schema
from dctv.errors import WarningLog
from dctv.plan import build as w
from dctv.plan.expressions import NULL, Cast, Column, Expression, Star, Text
from dctv.plan.nodes import Plan, Relation
from dctv.plan.order import RowOrder
from dctv.plan.queries import Derived, Item, Select
from dctv.plan.rows import of_rows
from dctv.record import record, replace
from dctv.syntax import filter as ast
from dctv.types.schema import DURATION, TS, ColumnType, Kind, Schema

LINE = "record"
_LINES = Schema(Kind.REGULAR, (ColumnType(LINE, "VARCHAR"),))
_COUNT = Schema(Kind.REGULAR, (ColumnType("count", "BIGINT"),))
_TIME, _TABLE, _ROW = "dctv:time", "dctv:table", "dctv:row"
_ORDER = tuple(ColumnType(name, "BIGINT") for name in (_TIME, _TABLE, _ROW))


@record
class StoredEvents:
    """A table of events and the plan that reads it."""

    table: EventTable
    plan: Plan


@record
class Matching:
    """The tables of a trace that may hold matching events, with the condition on each."""

    tables: tuple[tuple[StoredEvents, Condition], ...]
    times: RecordTimes

    def lines(self, limit: int | None) -> Plan:
        """Return the plan of the records as JSON texts, in order of time."""
        clock = RecordClock.of(self.times)
        return self._events(_LINES, lambda one: [Item(record_of(one, clock), LINE)], limit)

    def events(self, limit: int | None) -> Plan:
        """Return the plan of the events as `events` shows them, in order of time."""
        return self._events(events_schema(), _columns, limit)

    def count(self) -> Plan:
        """Return the plan of how many there are."""
        number = Item(w.call("count", Star()), "n")
        selects = [_where([number], leaf, condition) for leaf, _, condition in self._leaves()]
        if not selects:
            return of_rows(_COUNT, [[0]])
        total = Item(Cast(w.call("sum", Column("n")), "BIGINT"), "count")
        query = w.select(total, source=_union(selects))
        return Relation(_COUNT, order=RowOrder.ANY, query=query, leaves=self._plans())

    def _leaves(self) -> list[tuple[str, StoredEvents, Condition]]:
        return [(f"raw{i}", stored, condition) for i, (stored, condition) in enumerate(self.tables)]

    def _plans(self) -> tuple[tuple[str, Plan], ...]:
        return tuple((leaf, stored.plan) for leaf, stored, _ in self._leaves())

    def _events(self, schema: Schema, columns: Callable[[EventTable], list[Item]], limit: int | None) -> Plan:
        if not self.tables:
            return of_rows(schema, [])
        if len(self.tables) == 1:
            # Its rows come sorted by time.
            return self._one(schema, 0, columns, limit)
        inner = Schema(Kind.REGULAR, (*schema.columns, *_ORDER))
        leaves = [(f"events{place}", self._one(inner, place, columns, None)) for place in range(len(self.tables))]
        every = _union([w.select(*inner.names, source=leaf) for leaf, _ in leaves])
        query = w.sorted_by(w.select(*schema.names, source=every), *w.columns(one.name for one in _ORDER))
        query = _limited(query, limit)
        return Relation(schema, RowOrder.TIME if schema.kind.time_columns else RowOrder.STABLE, query, tuple(leaves))

    def _one(
        self, schema: Schema, place: int, columns: Callable[[EventTable], list[Item]], limit: int | None
    ) -> Relation:
        """Return the plan of one table's events; a relation of its own, so that rewriting has small queries to walk."""
        stored, condition = self.tables[place]
        items = columns(stored.table)
        if schema.names[-1] == _ROW:
            items += [Item(Column(TS), _TIME), Item(w.int64(place), _TABLE), Item(w.ROW_NUMBER, _ROW)]
        query = _limited(_where(items, "raw", condition), limit)
        timed = bool(schema.kind.time_columns)
        return Relation(schema, RowOrder.TIME if timed else RowOrder.STABLE, query, (("raw", stored.plan),))


def _limited(query: Select, limit: int | None) -> Select:
    return query if limit is None else replace(query, limit=w.number(limit))


def matching(tree: ast.Filter | None, tables: Sequence[StoredEvents], times: RecordTimes, log: WarningLog) -> Matching:
    """Find out which tables may hold matching events.

    Raises:
        QueryError: the filter does not fit the trace.
    """
    if tree is None:
        return Matching(tuple((one, True) for one in tables), times)
    binder = FilterBinder(tree, times)
    found = [(one, binder.condition(one.table)) for one in tables]
    binder.conclude(log)
    return Matching(tuple((one, condition) for one, condition in found if condition is not False), times)


def _where(items: list[Item], leaf: str, condition: Condition) -> Select:
    query = w.select(*items, source=leaf)
    return query if isinstance(condition, bool) else w.where(query, condition)


def _union(selects: Sequence[Select]) -> Derived:
    """Put the rows of selects together."""
    return Derived(w.concatenated(selects), "every")


def _columns(one: EventTable) -> list[Item]:
    event = one.event
    sources = {TS: TS, DURATION: event.duration, "category": event.category, "pid": event.pid, "tid": event.tid}
    name = Text(event.name) if event.named_by is None else Column(event.named_by)
    made: dict[str, Expression] = {"name": name, "args": args_of(one)}
    items: list[Item] = []
    for column in events_schema().columns:
        source = sources.get(column.name)
        value = made.get(column.name, NULL if source is None else Column(source))
        items.append(Item(Cast(value, column.type), column.name))
    return items
