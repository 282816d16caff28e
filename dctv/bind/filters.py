"""Turn a filter into the condition on each table of events that is true just for the events that match."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from dctv.bind.filter_tests import (
    OPPOSITE,
    Condition,
    JsonMember,
    Operand,
    ScaledNumber,
    comparison,
    kind_of,
    kind_of_value,
    membership,
    plain,
)
from dctv.contracts.reader import EventColumns
from dctv.errors import BindError, Place, UnitError, WarningLog, nearest
from dctv.plan import build as w
from dctv.plan.expressions import Column, Expression, IsNull
from dctv.record import field, record
from dctv.syntax import filter as ast
from dctv.types.schema import TS, ColumnType, Schema
from dctv.types.unit import NO_UNIT, Unit
from dctv.types.units import compatible, is_bare, parse_unit, ratio

_FIELDS = ("name", "cat", "pid", "tid", "ts", "dur")
_RENAMED = ("args_", "field_")
"""What readers put before the names of arguments that have the names of other columns."""


@record
class EventTable:
    """The properties of one event table that a filter needs."""

    schema: Schema
    event: EventColumns

    @property
    def others(self) -> tuple[str, ...]:
        """Columns that are fields of the record, besides those that every format has."""
        event = self.event
        special = {TS, event.duration, event.category, event.pid, event.tid, *event.args}
        return tuple(name for name in self.schema.names if name not in special)


@record
class RecordTimes:
    """The form of times in the records of a trace."""

    start: int
    """Absolute ns of `_ts` 0."""
    unit: Unit
    """Of a number without unit that is compared with `ts` or `dur`."""


@record
class FieldColumn:
    """The column that a field is in a table."""

    column: ColumnType
    bare: Unit
    """The unit of numbers without one."""
    zero: int = 0
    """What the record's number is when the column's is 0."""


Meaning = str | FieldColumn | JsonMember | None
"""Of a field in one table: a text that all its events have, a column, a member of one, or nothing."""


@record(frozen=False)
class FilterFindings:
    """Observations about a filter in all tables."""

    names: set[str] = field(default_factory=set)
    """Fields that events have."""
    tables: int = 0
    there: set[str] = field(default_factory=set)
    """Fields of the filter that are in some table."""
    fits: set[int] = field(default_factory=set)
    """Literals, by where they begin, that some table has something to compare with."""
    misfits: dict[int, tuple[int, str, bool]] = field(default_factory=dict)
    """In how many tables a literal does not fit, what stands in one of them, and whether that is about units."""


class FilterBinder:
    """A translator of one filter for the tables of a trace, one after the other."""

    def __init__(self, tree: ast.Filter, times: RecordTimes) -> None:
        self._tree = tree
        self._times = times
        self._found = FilterFindings()

    def condition(self, table: EventTable) -> Condition:
        """Return the condition on the events of a table; False where none can match."""
        self._found.tables += 1
        self._found.names.update(_names(table))
        return _OneTable(table, self._times, self._found).holds(self._tree, expected=True)

    def conclude(self, log: WarningLog) -> None:
        """Warn of fields that no table has; called after the last table.

        Raises:
            BindError: a field is an object.
            UnitError: nothing that a number with a unit is compared with has a unit that fits.
        """
        if self._found.tables:
            for test in _tests(self._tree):
                self._judge(test, log)

    def _judge(self, test: ast.Compare | ast.In | ast.IsNull, log: WarningLog) -> None:
        found = self._found
        name = test.field.text
        if name not in found.there:
            if name == "args":
                raise BindError("`args` is an object, expected one of its fields as in `args.ret`", test.field.place)
            near = nearest(name, sorted(found.names))
            log.add(f"no event has a field `{name}`" + (f", did you mean `{near}`?" if near else ""))
            return
        values = () if isinstance(test, ast.IsNull) else test.values if isinstance(test, ast.In) else (test.value,)
        for value in values:
            self._judge_value(name, value, log)

    def _judge_value(self, name: str, value: ast.Value, log: WarningLog) -> None:
        if isinstance(value, ast.FilterConstant) and value.value is None:
            log.add(f"nothing equals null: write `{name} is null`")
            return
        count, there, by_unit = self._found.misfits.get(_key(value), (0, "", False))
        if not count:
            return
        message = f"`{name}` {there}, found `{_shown(value.place)}`"
        if _key(value) not in self._found.fits:
            if by_unit:
                raise UnitError(message, value.place)
            log.add(f"{message}: no event matches that")
        elif by_unit:
            log.add(f"{message}: events of {count} {'name' if count == 1 else 'names'} do not match for that")


def _shown(place: Place | None) -> str:
    shown = place.text if place is not None else ""
    return shown if len(shown) <= 40 else f"{shown[:37]}..."


def _key(value: ast.Value) -> int:
    return value.place.start if value.place is not None else id(value)


def _tests(tree: ast.Filter) -> list[ast.Compare | ast.In | ast.IsNull]:
    match tree:
        case ast.Not(part):
            return _tests(part)
        case ast.And(parts) | ast.Or(parts):
            return [test for part in parts for test in _tests(part)]
        case _:
            return [tree]


def _names(table: EventTable) -> list[str]:
    event = table.event
    there = {"cat": event.category, "pid": event.pid, "tid": event.tid, "dur": event.duration}
    fields = [name for name in _FIELDS if there.get(name, name) is not None]
    return [*fields, *table.others, *event.args, *(f"args.{name}" for name in event.args)]


@record
class _OneTable:
    """A filter's meaning in one table."""

    table: EventTable
    times: RecordTimes
    found: FilterFindings

    def holds(self, tree: ast.Filter, *, expected: bool) -> Condition:
        """Return the condition that a filter has the expected value, true or false; unknown is neither."""
        match tree:
            case ast.Not(part):
                return self.holds(part, expected=not expected)
            case ast.And(parts):
                return _joined([self.holds(part, expected=expected) for part in parts], all_of=expected)
            case ast.Or(parts):
                return _joined([self.holds(part, expected=expected) for part in parts], all_of=not expected)
            case ast.IsNull(name):
                return self._absent(name, expected=expected)
            case ast.Compare(name, op, value):
                return self._compare(self._meaning(name), op if expected else OPPOSITE[op], value)
            case ast.In(name, values):
                return self._among(self._meaning(name), values, expected=expected)

    def _absent(self, name: ast.Field, *, expected: bool) -> Condition:
        match self._meaning(name):
            case None:
                return expected
            case str():
                return not expected
            case JsonMember() as inside:
                return inside.absent() if expected else inside.present()
            case FieldColumn(one):
                return IsNull(Column(one.name)) if expected else w.is_not_null(Column(one.name))

    def _compare(self, meaning: Meaning, op: ast.Operator, value: ast.Value) -> Condition:
        operand = self._operand(meaning, value)
        if operand is None or meaning is None:
            return False
        if isinstance(meaning, str):
            return plain(meaning, op, operand)
        if isinstance(meaning, JsonMember):
            return meaning.comparison(op, operand)
        return comparison(Column(meaning.column.name), meaning.column.type, op, operand)

    def _among(self, meaning: Meaning, values: Sequence[ast.Value], *, expected: bool) -> Condition:
        if meaning is None:
            return False
        operands = [self._operand(meaning, value) for value in values]
        comparable = [one for one in operands if one is not None]
        if not expected and len(comparable) < len(operands):
            return False
        if isinstance(meaning, str):
            return (meaning in comparable) is expected
        if isinstance(meaning, JsonMember):
            if not comparable:
                return False if expected else meaning.present()
            tests = [meaning.comparison("==" if expected else "!=", one) for one in comparable]
            return _joined(tests, all_of=not expected)
        return membership(Column(meaning.column.name), meaning.column.type, comparable, expected=expected)

    def _meaning(self, name: ast.Field) -> Meaning:
        meaning = self._record_field(name.parts)
        if meaning is None:
            meaning = self._argument(name.parts[1:] if name.parts[0] == "args" else name.parts)
        if meaning is not None:
            self.found.there.add(name.text)
        return meaning

    def _record_field(self, parts: tuple[str, ...]) -> Meaning:
        event = self.table.event
        if len(parts) != 1:
            return None
        match parts[0]:
            case "name":
                return event.name if event.named_by is None else self._own(event.named_by)
            case "ts":
                return FieldColumn(self._column(TS), self.times.unit, self.times.start)
            case "dur":
                return None if event.duration is None else FieldColumn(self._column(event.duration), self.times.unit)
            case other:
                named = {"cat": event.category, "pid": event.pid, "tid": event.tid}
                name = named.get(other, other if other in self.table.others else None)
                return None if name is None else self._own(name)

    def _argument(self, parts: tuple[str, ...]) -> Meaning:
        if not parts:
            return None
        args = self.table.event.args
        whole = ".".join(parts)
        for name in (whole, *(prefix + whole for prefix in _RENAMED)):
            if name in args:
                return self._own(name)
        for split in range(len(parts) - 1, 0, -1):
            owner = ".".join(parts[:split])
            if owner in args and kind_of(self._column(owner).type) == "text":
                return JsonMember(owner, parts[split:])
        return None

    def _own(self, name: str) -> FieldColumn:
        one = self._column(name)
        return FieldColumn(one, one.unit)

    def _column(self, name: str) -> ColumnType:
        columns = self.table.schema.columns
        return columns[self.table.schema.names.index(name)]

    def _operand(self, meaning: Meaning, value: ast.Value) -> Operand | None:
        """Return a literal in the type of the other operand, None if they cannot be compared."""
        if meaning is None or (isinstance(value, ast.FilterConstant) and value.value is None):
            return None
        operand, misfit = self._fitted(meaning, value)
        key = _key(value)
        if misfit is None:
            self.found.fits.add(key)
        else:
            count, there, by_unit = self.found.misfits.get(key, (0, *misfit))
            self.found.misfits[key] = (count + 1, there, by_unit)
        return operand

    def _fitted(
        self, meaning: str | FieldColumn | JsonMember, value: ast.Value
    ) -> tuple[Operand | None, tuple[str, bool] | None]:
        if isinstance(value, ast.Amount):
            value_unit = NO_UNIT if value.unit is None else _unit(value.unit, value.place)
            operand: Operand = ScaledNumber(value.value, value.whole)
        else:
            assert value.value is not None
            value_unit, operand = NO_UNIT, value.value
        if isinstance(meaning, JsonMember):
            return (operand, None) if is_bare(value_unit) else (None, ("has no unit", True))
        there = "text" if isinstance(meaning, str) else kind_of(meaning.column.type)
        if there != kind_of_value(operand):
            return None, (_HOLDS[there], False)
        if not isinstance(operand, ScaledNumber) or isinstance(meaning, str):
            return operand, None
        unit = meaning.column.unit
        if not is_bare(value_unit) and not compatible(value_unit, unit):
            return None, ("has no unit" if is_bare(unit) else f"is in `{meaning.bare}`", True)
        factor = ratio(meaning.bare if is_bare(value_unit) else value_unit, unit)
        return ScaledNumber(operand.value * factor - meaning.zero, operand.whole), None


_HOLDS = {
    "number": "is a number",
    "text": "is a text",
    "truth": "is true or false",
    "": "has values of another kind",
}


@lru_cache(maxsize=64)
def _parsed(text: str) -> Unit:
    return parse_unit(text)


def _unit(text: str, place: Place | None) -> Unit:
    try:
        return _parsed(text)
    except UnitError as error:
        raise UnitError(error.message, place, hint=error.hint) from None


def _joined(tests: Sequence[Condition], *, all_of: bool) -> Condition:
    """Join conditions by AND or OR."""
    if any(test is not all_of and isinstance(test, bool) for test in tests):
        return not all_of
    left: list[Expression] = [test for test in tests if not isinstance(test, bool)]
    if all_of:
        return w.all_of(left) or True
    return w.any_of(left) if left else False
