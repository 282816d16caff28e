"""Query the kernel events that viewers build tracks from, in order, and describe how to write each of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dctv.export.query import select
from dctv.record import field, record
from dctv.session import Session

Described = tuple[str, int, Sequence[tuple[str, str, int, str]]]
"""An event's name, the number of its message, and its fields: column, prefix, number, form."""


@record
class KernelField:
    """One field of an event."""

    column: str
    number: int
    """The field's number in the event's message in Perfetto's format, 0 if it has none."""
    form: str = "int"
    """`int`, or for texts `text`, `state`, `handled`, `hex` (numbers separated by commas) or `number`."""
    printed: str = ""
    """The kernel's prefix of the value, if it is not the column and `=`."""


@record
class KernelEvent:
    """One kind of event."""

    name: str
    number: int
    """The number of its message in Perfetto's `FtraceEvent`."""
    fields: Sequence[KernelField]
    given: Mapping[str, str] = field(default_factory=dict)
    """Columns that the standard library's event lacks, as expressions over its columns."""


def _text(column: str, number: int, printed: str = "") -> KernelField:
    return KernelField(column, number, "text", printed)


_CPU = {"cpu": "cpu"}
_HANDLER = {**_CPU, "tid": "common_pid"}
_RUNS = {**_HANDLER, "tgid": "common_tgid", "comm_of_event": "common_comm"}
_SWITCHES = {
    **_CPU,
    "tid": "COALESCE(common_pid, prev_pid)",
    "tgid": "CASE WHEN COALESCE(common_pid, prev_pid) = prev_pid THEN common_tgid END",
    "comm_of_event": "prev_comm",
}
_FORKS = {**_RUNS, "parent_comm": "common_comm", "parent_pid": "COALESCE(parent_tid, parent_pid, common_pid)"}
_SWITCH = (
    _text("prev_comm", 1),
    KernelField("prev_pid", 2),
    KernelField("prev_prio", 3),
    KernelField("prev_state", 4, "state"),
    _text("next_comm", 5, " ==> next_comm="),
    KernelField("next_pid", 6),
    KernelField("next_prio", 7),
)
_WAKEUP = (
    _text("comm", 1),
    KernelField("pid", 2),
    KernelField("prio", 3),
    KernelField("success", 4),
    KernelField("target_cpu", 5),
)
_PID = KernelField("pid", 1)
_STATE = (KernelField("state", 1), KernelField("cpu_id", 2))
_SOFT = (KernelField("vec", 1), _text("action", 0))

EVENTS = (
    KernelEvent("sched_switch", 4, _SWITCH, _SWITCHES),
    KernelEvent("sched_wakeup", 17, _WAKEUP, {**_RUNS, "flags": "common_flags"}),
    KernelEvent("sched_waking", 20, _WAKEUP, {**_RUNS, "flags": "common_flags"}),
    KernelEvent("sched_wakeup_new", 114, _WAKEUP, {**_RUNS, "flags": "common_flags"}),
    KernelEvent("sched_blocked_reason", 18, (_PID, KernelField("iowait", 3), _text("caller", 0)), _RUNS),
    KernelEvent(
        "sched_process_fork",
        239,
        (
            _text("parent_comm", 1, " comm="),
            KernelField("parent_pid", 2, printed=" pid="),
            _text("child_comm", 3),
            KernelField("child_pid", 4),
        ),
        _FORKS,
    ),
    KernelEvent("sched_process_exec", 237, (_text("filename", 1), KernelField("pid", 2)), _RUNS),
    KernelEvent("sched_process_exit", 238, (_text("comm", 1), KernelField("pid", 2)), _RUNS),
    KernelEvent("sched_process_free", 240, (_text("comm", 1), KernelField("pid", 2)), _CPU),
    KernelEvent("task_newtask", 235, (_PID, _text("comm", 2)), _RUNS),
    KernelEvent("task_rename", 236, (_PID, _text("oldcomm", 2), _text("newcomm", 3)), _RUNS),
    KernelEvent("cpu_frequency", 11, _STATE, {"cpu": "cpu_id", "state": "unitless(state)"}),
    KernelEvent(
        "cpu_frequency_limits",
        12,
        (
            KernelField("min_freq", 1, printed=" min="),
            KernelField("max_freq", 2, printed=" max="),
            KernelField("cpu_id", 3),
        ),
        {
            "cpu": "cpu_id",
            "min_freq": "unitless(COALESCE(min, min_freq))",
            "max_freq": "unitless(COALESCE(max, max_freq))",
        },
    ),
    KernelEvent("cpu_idle", 13, _STATE, {"cpu": "cpu_id"}),
    KernelEvent("irq_handler_entry", 36, (KernelField("irq", 1), _text("name", 2)), _HANDLER),
    KernelEvent("irq_handler_exit", 37, (KernelField("irq", 1), KernelField("ret", 2, "handled")), _CPU),
    KernelEvent("softirq_entry", 24, _SOFT, _HANDLER),
    KernelEvent("softirq_exit", 25, _SOFT, _CPU),
    KernelEvent("softirq_raise", 26, _SOFT, _HANDLER),
    KernelEvent("sys_enter", 329, (KernelField("id", 1, printed=" NR "), KernelField("args", 2, "hex", " (")), _RUNS),
    KernelEvent("sys_exit", 330, (KernelField("id", 1, printed=" NR "), KernelField("ret", 2, "number", " = ")), _RUNS),
)

_HEAD = {"cpu": "int", "tid": "int", "tgid": "int", "comm_of_event": "text", "flags": "text"}


def described() -> list[Described]:
    """Return the descriptions of all events."""
    return [
        (one.name, one.number, [(f.column, f.printed or f" {f.column}=", f.number, f.form) for f in one.fields])
        for one in EVENTS
    ]


def present(session: Session) -> list[str]:
    """Return the names of the kernel events in the trace `t`, under whatever names it has them."""
    return [one.name for one in EVENTS if session.stored_tables(f"t._events.{one.name}")]


def events_query(names: Iterable[str]) -> str:
    """Return the query over events of some names, in order; columns of other events are NULL."""
    wanted = set(names)
    columns = {**_HEAD, **{f.column: f.form for one in EVENTS for f in one.fields}}
    selects = []
    for one in EVENTS:
        if one.name in wanted:
            own = {**{f.column: f.column for f in one.fields}, **one.given}
            shown = [f"{own.get(name, _null(form))} AS {name}" for name, form in columns.items()]
            # Events of tables without lines keep their own order at equal times.
            place = "ROW_NUMBER() OVER () AS place"
            head = ["_ts", "line", place, f"'{one.name}' AS `event`"]
            selects.append(select([*head, *shown], f"t._events.{one.name}"))
    return select(["*"], f"({' UNION ALL '.join(selects)})", "ORDER BY _ts, line, place")


def _null(form: str) -> str:
    return "NULL::INT64" if form == "int" else "NULL::STRING"
