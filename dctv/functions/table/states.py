"""dctv.state_at, dctv.state_2d and dctv.state_range: the states of attributes at a time or in a time range."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dctv.contracts.states import DeferredRows, States, intervals
from dctv.contracts.table_function import REQUIRED, Argument, Parameter, PlanBuilder, TableFunction
from dctv.errors import BindError, Place
from dctv.plan.fleets import FleetSource
from dctv.plan.nodes import Plan, Scan
from dctv.plan.order import RowOrder
from dctv.record import record, replace
from dctv.state import Feature, escape, split
from dctv.types.schema import ColumnType, Kind, Schema

_MOST = 10_000_000
_PARTITION = "quark"
_FEATURES: tuple[Feature, ...] = ("max", "min", "avg")
_RANGE = Schema(
    Kind.REGULAR,
    (
        ColumnType("quark", "INTEGER"),
        ColumnType("path", "VARCHAR"),
        ColumnType("number", "BIGINT"),
        ColumnType("real", "DOUBLE"),
    ),
)


def _states(arguments: Mapping[str, Argument]) -> States:
    """Return the state system, or the attributes in it that match path patterns."""
    argument = arguments["system"]
    plan = argument.table("a state system")
    if isinstance(plan, Scan) and isinstance(plan.source, FleetSource) and _PARTITION in plan.schema.names:
        raise BindError(
            f"expected the state system of one trace, found `{plan.name}`, which has the states of many",
            argument.place,
            hint=f"FROM {plan.name} WHERE _ts <= 1s AND _ts + _duration > 1s has those at a time",
        )
    if not isinstance(plan, Scan) or not isinstance(plan.source, States):
        raise BindError("expected a state system, found another table", argument.place)
    wanted = arguments["paths"]
    if wanted.value is None:
        return plan.source
    texts = [(item.string("a path, such as `'CPUs/*/Current_thread'`"), item.place) for item in wanted.items()]
    words = ", ".join(text for text, _ in texts)
    return plan.source.when_there(f"paths {words}", lambda there: there.of(_quarks(there, texts)))


def _quarks(states: States, paths: Sequence[tuple[str, Place | None]]) -> Iterator[int]:
    for text, place in paths:
        found = states.system.quarks(*split(text))
        if not found:
            raise BindError(f"no attribute has the path `{text}`", place)
        yield from (quark for quark in found if quark >= 0)


@record
class _Time:
    """A requested time, None for the beginning or end of the states, and its position."""

    value: int | None
    place: Place | None

    @property
    def words(self) -> str:
        """The time as text."""
        return "" if self.value is None else f"{self.value} ns"

    def or_else(self, other: int) -> int:
        """Return the time, or a default if none was requested."""
        return other if self.value is None else self.value

    def within(self, states: States) -> int:
        """Return the time, or the beginning of the states if none was requested.

        Raises:
            BindError: it is outside of the states.
        """
        start, end = states.system.start, states.system.safe_time
        time = self.or_else(start)
        if not start <= time <= end:
            raise BindError(
                f"the time {time} ns is outside of the states, which are from {start} to {end} ns", self.place
            )
        return time


def _time(arguments: Mapping[str, Argument], name: str) -> _Time:
    argument = arguments[name]
    return _Time(None if argument.value is None else argument.nanoseconds(f"`{name}`"), argument.place)


def _at(arguments: Mapping[str, Argument], _: PlanBuilder) -> Plan:
    time = _time(arguments, "time")
    found = _states(arguments).when_there(f"at {time.words}", lambda there: replace(there, times=(time.within(there),)))
    return intervals("state_at", found)


def _two_dimensions(arguments: Mapping[str, Argument], _: PlanBuilder) -> Plan:
    source = _states(arguments)
    if arguments["times"].value is not None:
        times = [item.nanoseconds("`times`") for item in arguments["times"].items()]
        words = f"at {len(times):,} times"
        return intervals("state_2d", source.when_there(words, lambda there: replace(there, times=tuple(times))))
    start, stop = _time(arguments, "start"), _time(arguments, "stop")
    _in_order(start, stop)
    step = None if arguments["resolution"].value is None else arguments["resolution"].nanoseconds("`resolution`")
    place = arguments["resolution"].place

    def apply(there: States) -> States:
        first, last = _range_of(there, start, stop)
        if step is None:
            return replace(there, first=first, last=last, asked=True)
        if step < 1 or (last - first) // step > _MOST:
            raise BindError(f"`resolution` is too small, at most {_MOST:,} times are looked up", place)
        return replace(there, times=(*range(first, last, step), last))

    words = f"{start.words}..{stop.words}" + ("" if step is None else f", every {step} ns")
    return intervals("state_2d", source.when_there(words, apply))


def _in_order(start: _Time, stop: _Time) -> None:
    if start.value is not None and stop.value is not None and stop.value < start.value:
        raise BindError("`stop` is before `start`", stop.place)


def _range_of(states: States, start: _Time, stop: _Time) -> tuple[int, int]:
    first, last = start.or_else(states.system.start), stop.or_else(states.system.safe_time)
    if last < first:
        raise BindError("`stop` is before `start`", stop.place or start.place)
    return first, last


def _range(arguments: Mapping[str, Argument], _: PlanBuilder) -> Plan:
    start, stop = _time(arguments, "start"), _time(arguments, "stop")
    _in_order(start, stop)
    chosen = arguments["of"].choice("`of`", _FEATURES)
    feature = next(one for one in _FEATURES if one == chosen)
    states = _states(arguments)

    def rows() -> Any:
        there = states.prepared()
        start.within(there)
        return _numbers(feature, there, *_range_of(there, start, stop))

    source = DeferredRows(None, rows, states.lines)
    return Scan(_RANGE, order=RowOrder.STABLE, name="state_range", source=source)


def _numbers(feature: Feature, states: States, first: int, last: int) -> Any:
    import pyarrow as pa

    system = states.system
    every = range(system.attribute_count) if states.quarks is None else states.quarks
    quarks = [quark for quark in every if system.kind(quark) != "string"]
    values = system.ranges(quarks, first, last, feature)
    data = {
        "quark": pa.array(quarks, pa.int32()),
        "path": pa.array([escape(system.path(quark)) for quark in quarks], pa.string()),
        "number": pa.array([value if isinstance(value, int) else None for value in values], pa.int64()),
        "real": pa.array([value if isinstance(value, float) else None for value in values], pa.float64()),
    }
    return pa.table(data)


_SYSTEM = Parameter("system", "a state system, by its name", REQUIRED)
_PATHS = Parameter(
    "paths", "a path of attributes, or list of them, with `*` for each name: `'CPUs/*'`", None, keyword_only=True
)

STATE_AT = TableFunction(
    "state_at",
    "the state of each attribute at a time, as long as it lasted",
    (_SYSTEM, Parameter("time", "when", REQUIRED), _PATHS),
    _at,
    each_trace=False,
)
STATE_2D = TableFunction(
    "state_2d",
    "states of attributes that last at one of some times, or within a range: each once",
    (
        _SYSTEM,
        _PATHS,
        Parameter("times", "a time, or list of them", None, keyword_only=True),
        Parameter("start", "where the range starts", None, keyword_only=True),
        Parameter("stop", "where it ends", None, keyword_only=True),
        Parameter("resolution", "look only every so often", None, keyword_only=True),
    ),
    _two_dimensions,
    each_trace=False,
)
STATE_RANGE = TableFunction(
    "state_range",
    "the greatest, least or average state of each attribute that has numbers; averages are weighted by time, and no "
    "state counts as 0",
    (
        _SYSTEM,
        Parameter("of", "'max', 'min' or 'avg'", REQUIRED),
        Parameter("start", "where the range starts", None, keyword_only=True),
        Parameter("stop", "where it ends", None, keyword_only=True),
        _PATHS,
    ),
    _range,
    each_trace=False,
)
