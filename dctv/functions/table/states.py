"""dctv.state_at, dctv.state_2d and dctv.state_range: what the states of attributes were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dctv.contracts.states import States, intervals
from dctv.contracts.table_function import REQUIRED, Argument, Parameter, PlanBuilder, TableFunction
from dctv.errors import BindError
from dctv.plan.nodes import Plan, Scan
from dctv.plan.source import Held
from dctv.state import escape, split
from dctv.types.schema import ColumnType, Kind, Schema

_MOST = 10_000_000
_FEATURES = ("max", "min", "avg")
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
    """Return the state system, or those of its attributes that patterns of paths lead to."""
    argument = arguments["system"]
    plan = argument.table("a state system")
    if not isinstance(plan, Scan) or not isinstance(plan.source, States):
        raise BindError("expected a state system, found another table", argument.place)
    wanted = arguments["paths"]
    return plan.source if wanted.value is None else plan.source.of(_quarks(wanted, plan.source))


def _quarks(paths: Argument, source: States) -> Iterator[int]:
    for item in paths.items():
        text = item.string("a path, such as `'CPUs/*/Current_thread'`")
        found = source.system.quarks(*split(text))
        if not found:
            raise BindError(f"no attribute has the path `{text}`", item.place)
        yield from (quark for quark in found if quark >= 0)


def _time(arguments: Mapping[str, Argument], name: str, default: int) -> int:
    argument = arguments[name]
    return default if argument.value is None else argument.nanoseconds(f"`{name}`")


def _within(source: States, time: int, argument: Argument) -> int:
    start, end = source.system.start, source.system.safe_time
    if not start <= time <= end:
        raise BindError(
            f"the time {time} ns is outside of the states, which are from {start} to {end} ns", argument.place
        )
    return time


def _at(arguments: Mapping[str, Argument], _: PlanBuilder) -> Plan:
    source = _states(arguments)
    time = _within(source, arguments["time"].nanoseconds("`time`"), arguments["time"])
    return intervals("state_at", replace(source, times=(time,)))


def _two_dimensions(arguments: Mapping[str, Argument], _: PlanBuilder) -> Plan:
    source = _states(arguments)
    if arguments["times"].value is not None:
        times = [item.nanoseconds("`times`") for item in arguments["times"].items()]
        return intervals("state_2d", replace(source, times=tuple(times)))
    start = _time(arguments, "start", source.system.start)
    stop = _time(arguments, "stop", source.system.safe_time)
    if stop < start:
        raise BindError("`stop` is before `start`", arguments["stop"].place)
    if arguments["resolution"].value is None:
        return intervals("state_2d", replace(source, first=start, last=stop, asked=True))
    step = arguments["resolution"].nanoseconds("`resolution`")
    if step < 1 or (stop - start) // step > _MOST:
        raise BindError(
            f"`resolution` is too small, at most {_MOST:,} times are looked up", arguments["resolution"].place
        )
    return intervals("state_2d", replace(source, times=(*range(start, stop, step), stop)))


def _range(arguments: Mapping[str, Argument], _: PlanBuilder) -> Plan:
    import pyarrow as pa

    source = _states(arguments)
    feature = arguments["of"].choice("`of`", _FEATURES)
    start = _within(source, _time(arguments, "start", source.system.start), arguments["start"])
    stop = _time(arguments, "stop", source.system.safe_time)
    if stop < start:
        raise BindError("`stop` is before `start`", arguments["stop"].place)
    system = source.system
    ask = {"max": system.range_max, "min": system.range_min, "avg": system.range_average}[feature]
    every = range(system.attribute_count) if source.quarks is None else source.quarks
    quarks = [quark for quark in every if system.kind(quark) != "string"]
    values = [ask(quark, start, stop) for quark in quarks]
    data = {
        "quark": pa.array(quarks, pa.int32()),
        "path": pa.array([escape(system.path(quark)) for quark in quarks], pa.string()),
        "number": pa.array([value if isinstance(value, int) else None for value in values], pa.int64()),
        "real": pa.array([value if isinstance(value, float) else None for value in values], pa.float64()),
    }
    return Scan(_RANGE, ordered=False, name="state_range", source=Held(pa.table(data)))


_SYSTEM = Parameter("system", "a state system, by its name", REQUIRED)
_PATHS = Parameter(
    "paths", "a path of attributes, or list of them, with `*` for each name: `'CPUs/*'`", None, keyword_only=True
)

STATE_AT = TableFunction(
    "state_at",
    "the state of each attribute at a time, as long as it lasted",
    (_SYSTEM, Parameter("time", "when", REQUIRED), _PATHS),
    _at,
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
)
