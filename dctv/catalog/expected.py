"""Build the tables of `_events` from stdlib/events.toml: kernel events as views expect them, whatever their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from dctv import resources
from dctv.contracts.reader import EventColumns
from dctv.plan.build import as_type, call, columns, concatenated, select, sorted_by, where
from dctv.plan.expressions import FALSE, NULL, Binary, Cast, Column, Expression, Text
from dctv.plan.nodes import Plan, Relation, column_types, physical_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Item, Select
from dctv.record import field, record
from dctv.types.schema import TS, ColumnType, Kind, Schema
from dctv.types.unit import NO_UNIT
from dctv.types.units import parse_unit
from dctv.types.values import engine_type

RAW = "raw_events."
_SORTING = "line"
"""The column that orders events with equal times, if a trace has it."""
_SPECIAL = {"NAME": "STRING", "ARGS": "JSON", "HEX": "INT64"}
"""Types of columns that need more than a cast."""


@record
class EventSource:
    """A table of raw events that an expected event is read from."""

    event: str
    columns: EventColumns | None
    plan: Callable[[], Plan]


@record
class ExpectedEvent:
    """An event that the standard library reads: its table has these columns even if a trace lacks them."""

    name: str
    columns: tuple[ColumnType, ...]
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Other names of its columns, best first."""
    patterns: tuple[str, ...] = ()
    """Other names of the event itself; `*` matches any text."""
    special: Mapping[str, str] = field(default_factory=dict)
    """Columns that need more than a cast: `NAME` is the text that `*` matched, `ARGS` the event's fields as a JSON
    object, and `HEX` an integer, parsed as hexadecimal if it is text."""

    def star(self, event: str) -> str:
        """Return the text that `*` matches in an event's name; the whole name if the pattern has no `*`."""
        plain = event.rpartition(":")[2]
        for pattern in self.patterns:
            head, star, tail = pattern.partition("*")
            if star and fnmatchcase(plain, pattern):
                return plain[len(head) : len(plain) - len(tail)]
        return plain

    def plan(self, found: Sequence[EventSource]) -> Plan:
        """Return the event's table with the expected columns: cast from the trace's, NULL where it has none."""
        schema = Schema(Kind.EVENT, (ColumnType(TS, "BIGINT", parse_unit("ns")), *self.columns))
        if not found:
            nothing = where(select(*(Item(_as(NULL, c, {}), c.name) for c in schema.columns)), FALSE)
            return Relation(schema, order=RowOrder.TIME, query=nothing)
        plans = [one.plan() for one in found]
        if len(found) == 1:
            query = self._select(schema, "event", found[0], plans[0])
            return Relation(schema, order=RowOrder.TIME, query=query, leaves=(("event", plans[0]),))
        leaves = tuple((f"event{number}", plan) for number, plan in enumerate(plans))
        selects = [self._select(schema, leaf, one, plan) for one, (leaf, plan) in zip(found, leaves, strict=True)]
        order = columns(name for name in (TS, _SORTING) if name in schema.names)
        query = sorted_by(select(*schema.names, source=concatenated(selects)), *order)
        return Relation(schema, order=RowOrder.TIME, query=query, leaves=leaves)

    def _select(self, schema: Schema, leaf: str, found: EventSource, plan: Plan) -> Select:
        own = dict(zip(plan.schema.names, physical_names(plan.schema), strict=True))
        types = column_types(plan.schema)
        values = ((self._value(one, own, types, found), one) for one in schema.columns)
        return select(*(Item(_as(value, one, types), one.name) for value, one in values), source=leaf)

    def _value(
        self, wanted: ColumnType, own: Mapping[str, str], types: Mapping[str, str], found: EventSource
    ) -> Expression:
        match self.special.get(wanted.name):
            case "NAME":
                return Text(self.star(found.event))
            case "ARGS":
                return arguments(found.columns.args if found.columns is not None else (), found.plan().schema)
        names = [own[n] for n in (wanted.name, *self.names.get(wanted.name, ())) if n in own]
        hexadecimal = self.special.get(wanted.name) == "HEX"
        values = [_hexadecimal(n) if hexadecimal and types[n] == "VARCHAR" else Column(n) for n in names]
        if len(values) > 1:
            return call("coalesce", *(_as(v, wanted, types) for v in values))
        return values[0] if values else NULL


def arguments(names: Sequence[str], schema: Schema) -> Expression:
    """Build a JSON object from columns of a table: the members of a JSON column `args`, and the other columns."""
    types = {one.name: one.type for one in schema.columns}
    given = "args" in names and types.get("args") == "JSON"
    members: list[Expression] = []
    for name in names:
        if not (given and name == "args"):
            members += [Text(name), Cast(Column(name), "JSON") if types.get(name) == "JSON" else Column(name)]
    empty = Cast(Text("{}"), "JSON")
    start = call("coalesce", Cast(Column("args"), "JSON"), empty) if given else empty
    if given and not members:
        return start
    # Merging drops NULL members: fields that this event does not have.
    return call("json_merge_patch", start, call("json_object", *members))


def _hexadecimal(name: str) -> Expression:
    # The kernel prints these numbers without 0x, trace-cmd with it.
    return Binary("||", Text("0x"), call("replace", Column(name), Text("0x"), Text("")))


def _as(value: Expression, wanted: ColumnType, types: Mapping[str, str]) -> Expression:
    return as_type(value, wanted.type, types, lenient=wanted.type != "JSON")


def feeding(events: Mapping[str, ExpectedEvent], raw: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the raw events of a trace that feed each expected event, by name."""
    by_name: dict[str, list[str]] = {}
    for event in raw:
        by_name.setdefault(event.rpartition(":")[2], []).append(event)

    def found(expected: ExpectedEvent) -> Iterator[str]:
        for pattern in (expected.name, *expected.patterns):
            if "*" not in pattern:
                yield from by_name.get(pattern, ())
            else:
                head = pattern.partition("*")[0]
                own = (e for e, full in by_name.items() if e.startswith(head) and fnmatchcase(e, pattern))
                yield from (event for name in own for event in by_name[name])

    return {name: tuple(dict.fromkeys(found(expected))) for name, expected in events.items()}


@cache
def expected_events() -> Mapping[str, ExpectedEvent]:
    """Return the events of stdlib/events.toml by name: the file describes its format."""
    import tomllib

    path = resources.root() / "stdlib" / "events.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    common = data.pop("*")["names"]
    return {name: _event(name, table, common) for name, table in data.items()}


def _event(name: str, table: Mapping[str, Any], common: Mapping[str, Sequence[str]]) -> ExpectedEvent:
    columns = {n: t for n, t in table.items() if isinstance(t, str)}
    special = {n: t for n, t in columns.items() if t in _SPECIAL}
    names = {n: tuple(o for o in others if o not in columns) for n, others in common.items() if n in columns}
    own = table.get("names", {})
    names |= {n: (*others, *names.get(n, ())) for n, others in own.items()}
    typed = tuple(_column(n, _SPECIAL.get(t, t)) for n, t in columns.items())
    return ExpectedEvent(name, typed, names, tuple(table.get("from", ())), special)


def _column(name: str, text: str) -> ColumnType:
    kind, _, unit = text.partition(" ")
    return ColumnType(name, engine_type(kind), parse_unit(unit) if unit else NO_UNIT)
