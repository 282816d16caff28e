"""Events that match a filter to plans: as records, as the columns of `events`, or counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from dctv.bind.filter_tests import Condition
from dctv.bind.filters import EventTable, FilterBinder, Times
from dctv.bind.records import Clock, args_of, record_of
from dctv.catalog.mount import events_schema
from dctv.errors import WarningLog
from dctv.plan.nodes import Plan, Relation
from dctv.plan.rows import of_rows
from dctv.plan.sql import aliased, call, cast, column, table, text, whole
from dctv.record import record
from dctv.syntax import filter as ast
from dctv.types.schema import DURATION, TS, ColumnType, Kind, Schema

LINE = "record"
_LINES = Schema(Kind.REGULAR, (ColumnType(LINE, "VARCHAR"),))
_COUNT = Schema(Kind.REGULAR, (ColumnType("count", "BIGINT"),))
_TIME, _TABLE, _ROW = "dctv:time", "dctv:table", "dctv:row"
_ORDER = tuple(ColumnType(name, "BIGINT") for name in (_TIME, _TABLE, _ROW))


@record
class Stored:
    """A table of events and the plan that reads it."""

    table: EventTable
    plan: Plan


@record
class Matching:
    """The tables of a trace that may hold matching events, with the condition on each."""

    tables: tuple[tuple[Stored, Condition], ...]
    times: Times

    def lines(self, limit: int | None) -> Plan:
        """Return the plan of the records as JSON texts, in order of time."""
        clock = Clock.of(self.times)
        return self._events(_LINES, lambda one: [aliased(record_of(one, clock), LINE)], limit)

    def events(self, limit: int | None) -> Plan:
        """Return the plan of the events as `events` shows them, in order of time."""
        return self._events(events_schema(), _columns, limit)

    def count(self) -> Plan:
        """Return the plan of how many there are."""
        selects = [_where([aliased(call("count", exp.Star()), "n")], number_, c) for number_, _, c in self._leaves()]
        if not selects:
            return of_rows(_COUNT, [[0]])
        total = aliased(cast(call("sum", column("n")), "BIGINT"), "count")
        query = exp.Select(expressions=[total]).from_(_union(selects))
        return Relation(_COUNT, ordered=False, query=query, leaves=self._plans())

    def _leaves(self) -> list[tuple[str, Stored, Condition]]:
        return [(f"raw{i}", stored, condition) for i, (stored, condition) in enumerate(self.tables)]

    def _plans(self) -> tuple[tuple[str, Plan], ...]:
        return tuple((leaf, stored.plan) for leaf, stored, _ in self._leaves())

    def _events(self, schema: Schema, columns: Callable[[EventTable], list[exp.Expr]], limit: int | None) -> Plan:
        if not self.tables:
            return of_rows(schema, [])
        if len(self.tables) == 1:
            # Its rows come sorted by time.
            return self._one(schema, 0, columns, limit)
        inner = Schema(Kind.REGULAR, (*schema.columns, *_ORDER))
        leaves = [(f"events{place}", self._one(inner, place, columns, None)) for place in range(len(self.tables))]
        names = _named(schema)
        every = _union([exp.Select(expressions=_named(inner)).from_(table(leaf)) for leaf, _ in leaves])
        query: exp.Query = exp.Select(expressions=names).from_(every)
        query = query.order_by(*_named(Schema(Kind.REGULAR, _ORDER)), copy=False)
        if limit is not None:
            query = query.limit(limit, copy=False)
        return Relation(schema, bool(schema.kind.time_columns), query, tuple(leaves), keeps_order=True)

    def _one(
        self, schema: Schema, place: int, columns: Callable[[EventTable], list[exp.Expr]], limit: int | None
    ) -> Relation:
        """Return the plan of one table's events; a relation of its own, so that rewriting has small queries to walk."""
        stored, condition = self.tables[place]
        items = columns(stored.table)
        if schema.names[-1] == _ROW:
            row = exp.Window(this=exp.Anonymous(this="row_number"))
            items += [aliased(column(TS), _TIME), aliased(whole(place), _TABLE), aliased(row, _ROW)]
        query = _where(items, "raw", condition)
        if limit is not None:
            query = query.limit(limit, copy=False)
        timed = bool(schema.kind.time_columns)
        return Relation(schema, timed, query, (("raw", stored.plan),), keeps_order=True)


def _named(schema: Schema) -> list[exp.Expr]:
    """Name the columns of a schema."""
    return [column(name) for name in schema.names]


def matching(tree: ast.Filter | None, tables: Sequence[Stored], times: Times, log: WarningLog) -> Matching:
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


def _where(items: list[exp.Expr], leaf: str, condition: Condition) -> exp.Select:
    select = exp.Select(expressions=items).from_(table(leaf))
    return select if isinstance(condition, bool) else select.where(condition, copy=False)


def _union(selects: Sequence[exp.Select]) -> exp.Subquery:
    """Put the rows of selects together, as a flat tree."""
    left: list[exp.Query] = list(selects)
    while len(left) > 1:
        pairs = [exp.Union(this=a, expression=b, distinct=False) for a, b in zip(left[::2], left[1::2], strict=False)]
        left = [*pairs, *left[len(pairs) * 2 :]]
    return exp.Subquery(this=left[0], alias=exp.TableAlias(this=exp.to_identifier("every", quoted=True)))


def _columns(one: EventTable) -> list[exp.Expr]:
    event = one.event
    sources = {TS: TS, DURATION: event.duration, "category": event.category, "pid": event.pid, "tid": event.tid}
    name = text(event.name) if event.named_by is None else column(event.named_by)
    made: dict[str, exp.Expr] = {"name": name, "args": args_of(one)}
    items: list[exp.Expr] = []
    for wanted in events_schema().columns:
        source = sources.get(wanted.name)
        value = made.get(wanted.name, exp.Null() if source is None else column(source))
        items.append(aliased(cast(value, wanted.type), wanted.name))
    return items
