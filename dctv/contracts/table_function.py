"""The interface of a table-valued function, and of reading its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

from dctv.errors import BindError, Place, nearest
from dctv.plan.node import Query
from dctv.plan.nodes import Plan
from dctv.record import field, record
from dctv.types.schema import ColumnType, Schema
from dctv.types.unit import NO_UNIT, Unit
from dctv.types.units import compatible, parse_unit, ratio


@record
class Quantity:
    """A number with a unit."""

    value: Fraction
    unit: Unit = NO_UNIT


@record
class Argument:
    """A value of an argument, and its place in the text.

    The value is None, a bool, a str, a Quantity, a Plan, a list of Arguments or a dict of them.
    """

    value: Any
    place: Place | None
    scalar: Callable[[], Quantity] | None = None
    """For a subquery: runs it and returns its one number."""

    def quantity(self, what: str) -> Quantity:
        """Return a number, maybe with a unit; a subquery gives its one value."""
        if isinstance(self.value, Plan) and self.scalar is not None:
            return self.scalar()
        if not isinstance(self.value, Quantity):
            raise self.fail(what)
        return self.value

    def fail(self, expected: str) -> BindError:
        """Return the error for a value of the wrong kind."""
        return BindError(f"expected {expected}, found {describe(self.value)}", self.place)

    def string(self, what: str) -> str:
        """Return a string, or fail."""
        if not isinstance(self.value, str):
            raise self.fail(what)
        return self.value

    def choice(self, what: str, choices: Sequence[str]) -> str:
        """Return one of some strings, or fail."""
        text = self.string(what)
        if text not in choices:
            near = nearest(text, list(choices))
            listed = " or ".join(f"`{c}`" for c in choices)
            raise BindError(f"{what} is {listed}, found `{text}`", self.place, hint=near and f"did you mean `{near}`?")
        return text

    def table(self, what: str) -> Plan:
        """Return a table, or fail."""
        if not isinstance(self.value, Plan):
            wrong = self.fail(what)
            named = isinstance(self.value, str)
            raise BindError(
                wrong.message, wrong.place, hint=f"a table stands without quotes: {self.value}" if named else None
            )
        return self.value

    def nanoseconds(self, what: str) -> int:
        """Return a time in ns; only 0 needs no unit."""
        quantity, ns = self.quantity(f"a time for {what}"), parse_unit("ns")
        if quantity.unit == NO_UNIT:
            if quantity.value == 0:
                return 0
            shown = describe(quantity)
            number = shown.rpartition(" ")[2]
            raise BindError(f"{what} is a time, found {shown}", self.place, hint=f"give it a unit: `{number}ns`")
        if not compatible(quantity.unit, ns):
            raise BindError(f"{what} is a time, found {describe(quantity)}", self.place, hint="write it as `5ms`")
        return _int64(quantity.value * ratio(quantity.unit, ns), self.place)

    def integer(self, what: str) -> int:
        """Return a bare integer, or fail."""
        quantity = self.quantity(what)
        if quantity.unit != NO_UNIT or quantity.value.denominator != 1:
            raise self.fail(what)
        return _int64(quantity.value, self.place)

    def column(self, schema: Schema, what: str, *, owner: str = "the table", way_out: str = "") -> ColumnType:
        """Return the column of a table that a string names: as written first, then without regard to case."""
        name = self.string(f"the name of {what}")
        for same in (str, str.lower):
            for column in schema.columns:
                if same(column.name) == same(name):
                    return column
        near = nearest(name, list(schema.names))
        hint = f"did you mean `{near}`?" if near else f"columns: {', '.join(schema.names)}{way_out}"
        raise BindError(f"{owner} has no column `{name}`", self.place, hint=hint)

    def items(self) -> list[Argument]:
        """Return the items of a list; any other value is a list of one."""
        return list(self.value) if isinstance(self.value, list) else [self]

    def record(self, what: str, keys: Sequence[str]) -> dict[str, Argument]:
        """Return a dict with some of the given keys; a list gives them in order, a bare value the first one."""
        if isinstance(self.value, dict):
            for key, item in self.value.items():
                if key not in keys:
                    near = nearest(key, list(keys))
                    hint = f"did you mean `{near}`?" if near else f"it has {', '.join(keys)}"
                    raise BindError(f"{what} has no entry `{key}`", item.place, hint=hint)
            return {key: item for key, item in self.value.items() if item.value is not None}
        items = self.value if isinstance(self.value, list) else [self]
        if len(items) > len(keys):
            raise BindError(f"{what} has at most {len(keys)} entries, found {len(items)}", self.place)
        return {key: item for key, item in zip(keys, items, strict=False) if item.value is not None}


def _int64(value: Fraction, place: Place | None) -> int:
    number = round(value)
    if not -(2**63) <= number < 2**63:
        raise BindError("the number does not fit into 64 bits", place)
    return number


def describe(value: object) -> str:
    """Name a value of an argument as errors do."""
    match value:
        case None | bool():
            return "NULL" if value is None else str(value).upper()
        case str():
            return f"the string `{value}`"
        case Quantity():
            number = value.value.numerator if value.value.denominator == 1 else float(value.value)
            return f"the number {number}{'' if value.unit == NO_UNIT else f' {value.unit}'}"
        case Plan():
            return f"{value.schema.describe_one()}"
        case list():
            return "a list"
        case _:
            return "a dict"


REQUIRED = object()


@record
class Parameter:
    """One parameter of a table-valued function."""

    name: str
    doc: str
    default: object = REQUIRED
    """The value when it is not given (None, str, Quantity ...), or REQUIRED."""
    keyword_only: bool = False


class PlanBuilder(Protocol):
    """The binder's interface for functions that build plans."""

    def ordered(self, plan: Plan, columns: Sequence[tuple[str, str]], schema: Schema) -> Plan:
        """Project a plan to columns (source name, output name), sorted by the first of them, which is a time."""
        ...

    def query(self, query: Query, leaves: Mapping[str, Plan], schema: Schema, *, ordered: bool) -> Plan:
        """Make a plan of an engine query, reading the leaves by name."""
        ...

    def kernel(
        self, name: str, schema: Schema, inputs: Sequence[Plan], options: Mapping[str, object], *, ordered: bool
    ) -> Plan:
        """Make a plan of a registered span operator."""
        ...

    def merged(self, spans: Plan) -> Plan:
        """Merge spans of one partition that touch and have equal payload."""
        ...


@record
class TableFunction:
    """A table-valued function."""

    name: str
    doc: str
    parameters: tuple[Parameter, ...]
    bind: Callable[[Mapping[str, Argument], PlanBuilder], Plan]
    """Called with one Argument per parameter, defaults filled in."""
    aliases: tuple[str, ...] = field(default=())
    each_trace: bool = True
    """Whether it takes the rows of one trace as well as a table of them."""
    by_partition: bool = True
    """Whether the rows of one partition follow from that partition of its tables alone."""
