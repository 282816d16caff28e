"""dctv.thread_states and dctv.critical_path: thread states from switches and wakeups, and what a thread waited for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dctv.contracts.table_function import REQUIRED, Argument, Parameter, PlanBuilder, TableFunction
from dctv.errors import BindError
from dctv.functions.table.interval_tables import LENGTH, NS, TIME
from dctv.plan.build import case, columns, equal, number, select, sorted_by
from dctv.plan.expressions import Cast, Column, Expression, Text
from dctv.plan.nodes import Plan, physical_names
from dctv.plan.queries import Item
from dctv.types.schema import TS, ColumnType, Kind, Schema

STATES = ("runnable", "sleeping", "uninterruptible", "ended", "unknown", "running")
"""By their codes in the kernels."""
CONTEXTS = ("thread", "interrupt")
REASONS = (None, "interrupt", "unknown waker", "still waiting", "circle", "no events")

_INT, _CODE, _TEXT = "BIGINT", "TINYINT", "VARCHAR"
_OWN = {"kind": _CODE, "cpu": _INT, "target_cpu": _INT, "tid": _INT, "other_tid": _INT, "code": _CODE, "line": _INT}
_MADE = (
    TIME,
    ColumnType("end_ts", _INT, NS),
    ColumnType("tid", _INT),
    ColumnType("state", _CODE),
    ColumnType("cpu", _INT),
    ColumnType("line", _INT),
    ColumnType("woken", "BOOLEAN"),
    ColumnType("waker_tid", _INT),
    ColumnType("waker_context", _CODE),
    ColumnType("side", _CODE),
    ColumnType("next_state", _CODE),
    ColumnType("next_cpu", _INT),
    ColumnType("end_line", _INT),
    ColumnType("ended_by_tid", _INT),
    ColumnType("ended_by_context", _CODE),
)
_SHOWN = {"state": STATES, "next_state": STATES, "waker_context": CONTEXTS, "ended_by_context": CONTEXTS}
_PATH = {
    "end_ts": _INT,
    "tid": _INT,
    "state": _CODE,
    "cpu": _INT,
    "end_line": _INT,
    "ended_by_tid": _INT,
    "ended_by_context": _CODE,
}
_CODES = {
    "kind": {"switch": 0, "wakeup": 1},
    "state": {word: code for code, word in enumerate(STATES)},
    "ended_by_context": {word: code for code, word in enumerate(CONTEXTS)},
}
# A switch leaves a thread in a state, a wakeup comes from a context: one column holds both.
_CODES["code"] = {**_CODES["state"], **_CODES["ended_by_context"]}


def _values(own: Mapping[str, str], wanted: Mapping[str, str]) -> list[Item]:
    """Select the time and the columns that a kernel reads, with words as numbers; NULL for any other word."""
    items = [Item(Cast(Column(own[TS], "t"), _INT), TS)]
    for name, kind in wanted.items():
        value = Column(own[name], "t")
        codes = [(equal(value, Text(word)), number(code)) for word, code in _CODES.get(name, {}).items()]
        items.append(Item(Cast(case(*codes) if codes else value, kind), name))
    return items


def _word_of(value: Expression, words: Sequence[str | None]) -> Expression:
    branches = [(equal(value, number(at)), Text(word)) for at, word in enumerate(words) if word is not None]
    return Cast(case(*branches), _TEXT)


def _named(argument: Argument, what: str, wanted: Sequence[str]) -> tuple[Plan, dict[str, str]]:
    plan = argument.table(what)
    own = dict(zip(plan.schema.names, physical_names(plan.schema), strict=True))
    for name in (TS, *wanted):
        if name not in own:
            hint = f"it needs {', '.join((TS, *wanted))}"
            raise BindError(f"{what} has no column `{name}`", argument.place, hint=hint)
    return plan, own


def _states(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    plan, own = _named(arguments["events"], "the table of switches and wakeups", [*_OWN])
    payload = [c for c in plan.schema.columns if c.name not in (TS, *_OWN)]
    inner = Schema(Kind.EVENT, (TIME, *(ColumnType(n, k) for n, k in _OWN.items()), *payload))
    items = [*_values(own, _OWN), *(Item(Column(own[c.name], "t"), c.name) for c in payload)]
    events = _sorted(plan, items, inner, ("line", "kind", "cpu", "tid"), builder)
    made = Schema(Kind.REGULAR, (*_MADE, *payload))
    swept = builder.kernel("thread states", made, [events], {"names": physical_names(made)}, ordered=False)
    return _worded(swept, builder, _SHOWN)


def _sorted(plan: Plan, items: Sequence[Item], schema: Schema, then: Sequence[str], builder: PlanBuilder) -> Plan:
    query = select(*physical_names(schema), source=select(*items, source="t"))
    return builder.query(sorted_by(query, *columns((TS, *then))), {"t": plan}, schema, ordered=True)


def _worded(plan: Plan, builder: PlanBuilder, shown: Mapping[str, Sequence[str | None]]) -> Plan:
    columns = [ColumnType(c.name, _TEXT) if c.name in shown else c for c in plan.schema.columns]
    schema = Schema(plan.schema.kind, tuple(columns), plan.schema.partitions)
    names = physical_names(plan.schema)
    items = [
        Item(_word_of(Column(n, "t"), shown[c.name]) if c.name in shown else Column(n, "t"), n)
        for n, c in zip(names, columns, strict=True)
    ]
    return builder.query(select(*items, source="t"), {"t": plan}, schema, ordered=plan.ordered)


def _critical(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    plan, own = _named(arguments["states"], "the table of states", [*_PATH])
    inner = Schema(Kind.EVENT, (TIME, *(ColumnType(n, k) for n, k in _PATH.items())))
    states = _sorted(plan, _values(own, _PATH), inner, ("end_ts", "end_line", "tid"), builder)
    start = arguments["start"].nanoseconds("`start`")
    duration = arguments["duration"].nanoseconds("`duration`")
    if duration <= 0:
        raise BindError(f"`duration` is positive, found {duration} ns", arguments["duration"].place)
    columns = (
        TIME,
        LENGTH,
        ColumnType("tid", _INT),
        ColumnType("state", _CODE),
        ColumnType("cpu", _INT),
        ColumnType("depth", _INT),
        ColumnType("reason", _CODE),
    )
    made = Schema(Kind.SPAN, columns)
    end = min(start + duration, 2**63 - 1)
    options = {"tid": arguments["thread"].integer("the id of a thread"), "start": start, "end": end}
    path = builder.kernel("critical path", made, [states], {**options, "names": physical_names(made)}, ordered=True)
    return _worded(path, builder, {"state": STATES, "reason": REASONS})


THREAD_STATES = TableFunction(
    "thread_states",
    "what threads did, from one change of their state to the next, from switches of CPUs and wakeups of threads",
    (
        Parameter(
            "events",
            "`_ts`; `line` orders equal times; `kind`: `switch` or `wakeup`; `cpu` it happened on; of a switch `tid`, "
            "which runs from then on, `other_tid`, which ran before, and `code`: the state in which that was left; of "
            "a wakeup `tid`, which is woken, `other_tid`, which wakes it (or NULL), `target_cpu` and `code`: `thread`, "
            "`interrupt` or NULL; other columns are handed on",
            REQUIRED,
        ),
    ),
    _states,
)
CRITICAL_PATH = TableFunction(
    "critical_path",
    "what one thread had to wait for: where it slept, what the thread did that woke it, and so on",
    (
        Parameter("states", "states of threads as dctv.thread_states gives them", REQUIRED),
        Parameter("thread", "the thread's id", REQUIRED),
        Parameter("start", "when to begin", REQUIRED),
        Parameter("duration", "for how long", REQUIRED),
    ),
    _critical,
)
