"""Describe what an export omits of a trace, one sentence for each kind."""

from __future__ import annotations

from dctv.export import arrows, kernel
from dctv.export.query import count as count_rows
from dctv.export.query import select
from dctv.export.timeline import QUERY, ExportedTimeline
from dctv.session import Session

# Query parts, not views: a view finds the process of each row, for which any event counts.
_SHOWN = (
    "slice_begins",
    "slice_ends",
    "slice_completes",
    "async_begins",
    "async_ends",
    "instants",
    "flows",
    "counter_values",
    "tracks",
)
_RAW = "t.raw_events."
_NAMED = ("prev_pid", "next_pid", "pid", "child_pid")
"""Columns of kernel events that have the name of a thread beside them."""


def of_mount(session: Session, timeline: ExportedTimeline, form: arrows.Form) -> list[str]:
    """Describe what a format omits of the trace `t`."""
    found = _events(session)
    found += _of_the_kernel(session, timeline)
    if "flows" in timeline.queries:
        found += arrows.losses(session, form)
    if form == "perfetto":
        found += _names(session, timeline)
        if timeline.start_ns < 0:
            found.append(f"all times are {-timeline.start_ns} ns later: Perfetto has none before 0")
    if form == "chrome-json":
        found += _of_json(session, timeline)
    return found


def of_query(timeline: ExportedTimeline, form: arrows.Form) -> list[str]:
    """Describe what a format omits of the rows of a query."""
    found = _of_counters(timeline) if form == "chrome-json" else _before_zero(timeline)
    if timeline.measured:
        names = ", ".join(f"`{name}`" for name in timeline.measured)
        found.append(f"units of {names} were left out: arguments have no place for them")
    if timeline.omitted:
        names = ", ".join(f"`{name}`" for name in timeline.omitted)
        were, them = ("was", "it") if len(timeline.omitted) == 1 else ("were", "them")
        found.append(f"{names} {were} left out: counters have no place for {them}")
    return found


def _before_zero(timeline: ExportedTimeline) -> list[str]:
    """Describe rows whose times Perfetto cannot represent."""
    # The view of the query itself, without the tracks of its rows, which take a sort.
    count = count_rows(timeline.session, f"{QUERY} WHERE unitless(_ts) < 0")
    rows = "row was" if count == 1 else "rows were"
    return [f"{count} {rows} cut at 0: Perfetto has no earlier times"] if count else []


def _events(session: Session) -> list[str]:
    """Describe events that become no track of a viewer."""
    names = [*(f"_parts.{name}" for name in _SHOWN), *(f"_events.{name}" for name in kernel.present(session))]
    read = set().union(*(session.stored_tables(f"t.{name}") for name in names))
    raw = [one.name for one in session.tables("t.raw_events")]
    found = []
    for table in sorted(set(raw) - read):
        name = table.removeprefix(_RAW)
        count = count_rows(session, f"t.raw_events.`{name.replace('`', '``')}`")
        if count:
            events, them = (f"event `{name}` was", "it") if count == 1 else (f"events `{name}` were", "them")
            found.append(f"{count} {events} left out: no track is made of {them}")
    return found


def _of_the_kernel(session: Session, timeline: ExportedTimeline) -> list[str]:
    """Describe events for tracks of CPUs or threads that the trace does not name."""
    found = []
    if "kernel" in timeline.queries:
        count = count_rows(session, f"({timeline.queries['kernel']}) AS k WHERE cpu IS NULL")
        if count:
            found.append(f"{count} events of the kernel were left out: they tell no CPU")
    return found


def _names(session: Session, timeline: ExportedTimeline) -> list[str]:
    """Describe names of threads without a process, except those that kernel events repeat."""
    rest = "WHERE pid IS NULL AND name IS NOT NULL"
    if "kernel" in timeline.queries:
        events = f"({timeline.queries['kernel']})"
        selects = (select([column], events, f"WHERE {column} IS NOT NULL") for column in _NAMED)
        rest = f"{rest} AND tid NOT IN ({' UNION ALL '.join(selects)})"
    lost = count_rows(session, f"t.threads {rest}")
    return [f"{lost} names of threads were left out: no event tells their process"] if lost else []


def _of_json(session: Session, timeline: ExportedTimeline) -> list[str]:
    found = []
    if "kernel" in timeline.queries:
        lost = count_rows(
            session, f"({timeline.queries['kernel']}) AS k WHERE tid IS NULL AND `event` LIKE 'sched_wak%'"
        )
        if lost:
            found.append(f"threads of {lost} events of the kernel were left out: they tell none, the text needs one")
    return found + _of_counters(timeline)


def _of_counters(timeline: ExportedTimeline) -> list[str]:
    """Describe what Chrome's JSON omits of counters."""
    units = sum(one.kind == "counter" and one.unit is not None for one in timeline.tracks)
    counters = "counter" if units == 1 else "counters"
    found = [f"units of {units} {counters} were left out: Chrome's JSON has no place for them"] if units else []
    query = timeline.queries.get("counters")
    bad = count_rows(timeline.session, f"({query}) AS c WHERE NOT isfinite(value)") if query else 0
    if bad:
        values, them = ("value of a counter was", "it") if bad == 1 else ("values of counters were", "them")
        found.append(f"{bad} {values} left out: JSON has no number for {them}")
    return found
