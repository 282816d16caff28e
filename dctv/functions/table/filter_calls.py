"""dctv.filter_calls: filter calls, or other slices, and renumber their ids, parents and depths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from dctv.calls.language import ARGUMENTS, rules_of
from dctv.calls.rules import DEPTH, MATCHES, CallFilters, CallRule, Match
from dctv.contracts.table_function import REQUIRED, Argument, Parameter, PlanBuilder, Quantity, TableFunction
from dctv.errors import BindError, UsageError
from dctv.functions.table.interval_tables import LENGTH, TIME, refuse_name
from dctv.plan.build import any_of, call, case, columns, equal, named, number, select, sorted_by, where
from dctv.plan.expressions import NULL, And, Cast, Column, Expression, Text
from dctv.plan.nodes import Plan, physical_names
from dctv.record import record, replace
from dctv.types.schema import DURATION, TS, ColumnType, Kind, Schema
from dctv.types.values import is_integer, is_string

_ID = ColumnType("dctv:id", "BIGINT")
_PARENT = ColumnType("dctv:above", "BIGINT")
_DEPTH = ColumnType("dctv:depth", "INTEGER")
_SHOWN = (
    ColumnType("_shown", "TINYINT"),
    ColumnType("_indent", "INTEGER"),
    ColumnType("_outdent", "INTEGER"),
    ColumnType("_stack", "VARCHAR"),
)
"""Additional columns for filter texts."""
_MADE = (_ID, _PARENT, _DEPTH, *(replace(one, name=f"dctv:{one.name}") for one in _SHOWN))
"""Output columns of the kernel, after time and thread."""
_PROPERTIES = ("name", "module", "size", "file", "args")
"""Columns that filters use, in addition to times and places."""
_ENTRY, _EXIT = 1, 2
_STATES = {"open": _ENTRY, "left": _ENTRY, "lost": _ENTRY, "entered": _EXIT, "inherited": 0}
"""The ends that are recorded for a call, by its column `state`; calls without a state have both."""
_NEEDED: Mapping[str, tuple[Callable[[CallFilters], bool], str]] = {
    "size": (lambda one: one.by_size, "sizes"),
    "module": (lambda one: one.by_module, "modules"),
    "file": (lambda one: one.by_file, "source files"),
    "args": (lambda one: one.by_arguments, "arguments"),
}


@record
class _Calls:
    """The table, with the roles of its columns."""

    plan: Plan
    argument: Argument
    thread: ColumnType
    parent: str
    length: str

    def value(self, name: str, to: str) -> Expression:
        """Return a column cast to a type; NULL if the table has none of this name."""
        own = dict(zip(self.plan.schema.names, physical_names(self.plan.schema), strict=True))
        return Cast(Column(own[name], "t") if name in own else NULL, to)

    @property
    def args(self) -> Expression:
        """Return the arguments of a call as text; in Chrome's JSON, uftrace writes them into a member of `args`."""
        args = self.value("args", "VARCHAR")
        if "args" not in self.plan.schema.names:
            return args
        member = call("json_extract_string", args, Text("$.arguments"))
        named = call("contains", args, Text('"arguments"'))
        return case((And((named, call("json_valid", args))), member), default=args)

    @property
    def marks(self) -> Expression:
        """Return which ends of a call were recorded."""
        whole = number(_ENTRY | _EXIT)
        if "state" not in self.plan.schema.names:
            return Cast(whole, "TINYINT")
        state = self.value("state", "VARCHAR")
        branches = [(equal(state, Text(word)), number(marks)) for word, marks in _STATES.items()]
        return Cast(case(*branches, default=whole), "TINYINT")


def _calls(arguments: Mapping[str, Argument], filters: CallFilters) -> _Calls:
    argument = arguments["calls"]
    plan = argument.table("a table of calls or slices")
    types = {c.name: c.type for c in plan.schema.columns}
    names = [_either(types, *pair) for pair in (("parent_id", "parent"), (DURATION, "dur"))]
    for name in (TS, "id", "name", *names):
        if name not in types:
            hint = "the views `calls` and `slices` have all that is needed"
            raise BindError(f"the table has no column `{name}`", argument.place, hint=hint)
    for name in (TS, "id", *names):
        if not is_integer(types[name]):
            raise BindError(f"`{name}` is {types[name]}, expected integers", argument.place)
    for name, (needed, what) in _NEEDED.items():
        if needed(filters) and name not in types:
            raise BindError(f"these filters need {what}, and the table has no column `{name}`", argument.place)
        if (
            needed(filters)
            and name != "size"
            and not (is_string(types[name]) or (name, types[name]) == ("args", "JSON"))
        ):
            raise BindError(f"these filters need {what} as text, `{name}` is {types[name]}", argument.place)
    return _Calls(plan, argument, arguments["thread"].column(plan.schema, "the thread"), *names)


def _either(types: Mapping[str, str], first: str, second: str) -> str:
    return second if first not in types and second in types else first


def _filters(arguments: Mapping[str, Argument]) -> CallFilters:
    match = _match(arguments["match"])
    rules: list[CallRule] = []
    for name, option in ARGUMENTS.items():
        for item in arguments[name].items() if arguments[name].value is not None else ():
            try:
                rules += rules_of(option, [item.string(f"a text for `{name}`")], match)
            except UsageError as error:
                raise BindError(error.message, error.place, hint=error.hint) from None
    start, stop = _range(arguments["range"])
    return CallFilters(
        tuple(rules),
        match=match,
        depth=_at_least(1, arguments["depth"], "depth"),
        time=max(arguments["time"].nanoseconds("`time`"), 0),
        size=_at_least(0, arguments["size"], "size"),
        start=start,
        stop=stop,
        enabled=arguments["trace"].choice("`trace`", ("on", "off")) == "on",
    )


def _match(argument: Argument) -> Match:
    chosen = argument.choice("`match`", MATCHES)
    return next(one for one in MATCHES if one == chosen)


def _at_least(lowest: int, argument: Argument, name: str) -> int:
    value = argument.integer(f"a number for `{name}`")
    if value < lowest:
        raise BindError(f"`{name}` is at least {lowest}, found {value}", argument.place)
    return value


def _range(argument: Argument) -> tuple[int | None, int | None]:
    if argument.value is None:
        return None, None
    ends = argument.items()
    if not isinstance(argument.value, list) or len(ends) != 2:
        raise BindError("`range` is a list of two times, NULL for no limit", argument.place)
    start, stop = (None if one.value is None else one.nanoseconds("an end of `range`") for one in ends)
    return start, stop


def _input(calls: _Calls, threads: Argument, builder: PlanBuilder, *, arguments: bool) -> Plan:
    """Project the table to the kernel's input, by time; with call arguments only on request."""
    plan = calls.plan
    args = [ColumnType(f"dctv:{name}", "BIGINT" if name == "size" else "VARCHAR") for name in _PROPERTIES]
    own = (ColumnType("dctv:id", "BIGINT"), ColumnType("dctv:parent", "BIGINT"), replace(LENGTH, name="dctv:length"))
    marks = ColumnType("dctv:marks", "TINYINT")
    rest = plan.schema.columns
    time = replace(TIME, name="dctv:time")
    schema = Schema(Kind.REGULAR, (time, replace(calls.thread, name="dctv:thread"), *own, *args, marks, *rest))
    names = physical_names(schema)
    physical = dict(zip(plan.schema.names, physical_names(plan.schema), strict=True))
    thread = Column(physical[calls.thread.name], "t")
    values: list[Expression] = [calls.value(TS, "BIGINT"), thread]
    values += [calls.value(name, "BIGINT") for name in ("id", calls.parent, calls.length)]
    values += [calls.value(name, "BIGINT" if name == "size" else "VARCHAR") for name in _PROPERTIES[:-1]]
    values += [
        calls.args if arguments else Cast(NULL, "VARCHAR"),
        calls.marks,
        *columns((physical[c.name] for c in rest), "t"),
    ]
    query = select(*named(values, names), source="t")
    if threads.value is not None:
        query = where(
            query, any_of(equal(thread, number(one.integer("a thread for `tid`"))) for one in threads.items())
        )
    query = sorted_by(select(*names, source=query), *columns((names[0], names[2])))
    return builder.query(query, {"t": plan}, schema, ordered=True)


def _bind(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    filters = _filters(arguments)
    if filters.backtraces:
        hint = "dctv.shown_calls(...) has them as a column"
        raise BindError("`backtrace` is for texts", arguments["triggers"].place, hint=hint)
    return _filtered(arguments, filters, (), builder)


def _bind_shown(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    for one in _SHOWN:
        plan = arguments["calls"].table("a table of calls or slices")
        refuse_name(one.name, plan.schema.columns, arguments["calls"])
    return _filtered(arguments, _filters(arguments), _SHOWN, builder)


def _filtered(
    arguments: Mapping[str, Argument], filters: CallFilters, more: tuple[ColumnType, ...], builder: PlanBuilder
) -> Plan:
    """Return the table's columns of the calls that pass, with their places, and additional columns."""
    calls = _calls(arguments, filters)
    source = _input(calls, arguments["tid"], builder, arguments=filters.by_arguments)
    rest = calls.plan.schema.columns
    made = Schema(Kind.REGULAR, (replace(TIME, name="dctv:time"), source.schema.columns[1], *_MADE, *rest))
    names = physical_names(made)
    shown = builder.kernel("filter calls", made, [source], {"rules": filters, "names": names}, ordered=filters.in_order)
    first = len(names) - len(rest)
    kernel = dict(zip((one.name for one in _MADE), names[2:first], strict=True))
    places = {calls.parent: kernel[_PARENT.name], "depth": kernel[_DEPTH.name]}
    shape = tuple(replace(one, type="INTEGER") if one.name == "depth" else one for one in rest)
    values = [places.get(one.name, name) for one, name in zip(rest, names[first:], strict=True)]
    if "depth" not in calls.plan.schema.names:
        shape, values = (*shape, ColumnType("depth", "INTEGER")), [*values, kernel[_DEPTH.name]]
    values += [kernel[f"dctv:{one.name}"] for one in more]
    schema = Schema(Kind.REGULAR, (*shape, *more))
    query = select(*named(columns(values, "f"), physical_names(schema)), source="f")
    if not filters.in_order:
        query = sorted_by(query, *columns((names[0], kernel[_ID.name]), "f"))
    return builder.query(query, {"f": shown}, schema, ordered=True)


def _words(name: str, doc: str) -> Parameter:
    return Parameter(name, doc, None, keyword_only=True)


_PARAMETERS = (
    Parameter(
        "calls", "a table with `_ts`, `_duration`, `id`, `parent_id` and `name`: `calls`, `slices` ...", REQUIRED
    ),
    _words("filters", "list of functions that are let in, with all that they call; left out with `!`"),
    _words("notrace", "list of functions that are left out, with all that they call"),
    _words("triggers", "list of functions and what they do: `'f@depth=2'`, `'f@hide'`"),
    _words("callers", "list of functions: only calls that lead to one are shown"),
    _words("hide", "list of functions that are left out, without what they call"),
    _words("location", "list of source files: only their functions are shown; not with `@hide`"),
    Parameter("depth", "how many levels are shown", Quantity(Fraction(DEPTH)), keyword_only=True),
    Parameter("time", "shorter calls are left out", Quantity(Fraction(0)), keyword_only=True),
    Parameter("size", "calls of functions of fewer bytes are left out", Quantity(Fraction(0)), keyword_only=True),
    _words("range", "list of two times: what was before or after is not read"),
    _words("tid", "a thread, or list of them: others are not read"),
    Parameter("match", "what names of functions are: 'regex', 'glob' or 'simple'", "regex", keyword_only=True),
    Parameter("trace", "'off' if nothing is shown until a trigger says `trace_on`", "on", keyword_only=True),
    Parameter("thread", "name of the column of threads; calls are counted per thread", "tid", keyword_only=True),
)

FILTER_CALLS = TableFunction(
    "filter_calls",
    "calls that filters show, in order of time: the same columns, with the `depth` and the parent among what is shown. "
    "Words are as in [call filters](../explanation/call-filters.md): `'main'`, `'!free'`, `'a@sample=2'`",
    _PARAMETERS,
    _bind,
)
SHOWN_CALLS = TableFunction(
    "shown_calls",
    "likewise, with what a text needs to know of them: `_shown` is 1 for their begin, plus 2 for their end; `_indent` "
    "and `_outdent` are how far these are indented; `_stack` has the calls that one is in, a line each, where a "
    "trigger says `backtrace`",
    _PARAMETERS,
    _bind_shown,
)
