"""Convert decoded ftrace events to tables: column names, units that are certain in the kernel, order in time."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.contracts.reader import EventColumns, TraceTable, declared_unit
from dctv.types.schema import TS, ColumnType, Kind, Schema

FIXED = (TS, "cpu", "common_comm", "common_pid", "common_tgid", "common_flags", "line")
"""Columns of every event: the CPU, name and id of the thread, its process, the flags as printed, maybe the line."""
TEXT = "text"
"""The column for text outside of fields; while decoding it is called ` text`."""
OPTIONAL = ("common_tgid", "common_flags")
"""Columns that a trace may lack; either all its tables have them, or none."""

UNITS = {
    ("cpu_frequency", "state"): "kHz",
    ("cpu_frequency_limits", "min"): "kHz",
    ("cpu_frequency_limits", "max"): "kHz",
    ("clock_set_rate", "state"): "Hz",
    ("sched_stat_wait", "delay"): "ns",
    ("sched_stat_sleep", "delay"): "ns",
    ("sched_stat_blocked", "delay"): "ns",
    ("sched_stat_iowait", "delay"): "ns",
    ("sched_stat_runtime", "runtime"): "ns",
    ("sched_stat_runtime", "vruntime"): "ns",
    ("funcgraph_exit", "calltime"): "ns",
    ("funcgraph_exit", "rettime"): "ns",
    ("hrtimer_start", "expires"): "ns",
    ("hrtimer_start", "softexpires"): "ns",
    ("hrtimer_expire_entry", "now"): "ns",
    ("kmalloc", "bytes_req"): "B",
    ("kmalloc", "bytes_alloc"): "B",
    ("kmem_cache_alloc", "bytes_req"): "B",
    ("kmem_cache_alloc", "bytes_alloc"): "B",
    ("rss_stat", "size"): "B",
    ("f2fs_write_begin", "pos"): "B",
    ("f2fs_write_begin", "len"): "B",
    ("f2fs_write_end", "pos"): "B",
    ("f2fs_write_end", "len"): "B",
    ("f2fs_write_end", "copied"): "B",
    ("funcgraph_entry", "duration"): "ns",
    ("funcgraph_exit", "duration"): "ns",
    ("print|trace_event_clock_sync", "parent_ts"): "s",
    ("print|trace_event_clock_sync", "realtime_ts"): "ms",
}
"""Units by event and column; in addition, columns that end in `_ns`, `_us` or `_ms` have that unit."""

EXPECTED = {"print|E": ("pid",)}
"""Integer columns that an event's table has even if no event of the trace fills them."""


def column_names(decoded: Sequence[str]) -> list[str]:
    """Name the columns of one table; a field with the name of another one (ignoring case) gets the prefix `field_`."""
    taken = {*FIXED, TEXT}
    names = list(decoded[: len(FIXED)])
    for field in decoded[len(FIXED) :]:
        if field == f" {TEXT}":
            names.append(TEXT)
            continue
        name = field
        while name.lower() in taken:
            name = f"field_{name}"
        taken.add(name.lower())
        names.append(name)
    return names


def unit_of(event: str, column: str, engine_type: str) -> str:
    """Return the unit of an event's column; texts have none."""
    if engine_type == "VARCHAR":
        return ""
    if column == TS:
        return "ns"
    ending = column.rpartition("_")[2] if "_" in column else ""
    return UNITS.get((event, column)) or (ending if ending in {"ns", "us", "ms"} else "")


def shown_columns(
    event: str, decoded: Sequence[tuple[str, str]], *, lacks: Sequence[str], numbered: bool
) -> list[tuple[ColumnType, int | None]]:
    """Return the columns of an event's table, and the position of each among the decoded ones (None: only NULL).

    `decoded` has names and the engine's types; `lacks` names those of `OPTIONAL` that the trace lacks; `numbered` says
    whether rows have line numbers.
    """
    names = column_names([name for name, _ in decoded])
    found: list[tuple[str, str, int | None]] = [
        (name, kind, place) for place, (name, (_, kind)) in enumerate(zip(names, decoded, strict=True))
    ]
    found += [(name, "BIGINT", None) for name in EXPECTED.get(event, ()) if name not in names]
    left_out = {*lacks} if numbered else {*lacks, "line"}
    shown = [one for one in found if one[0] not in left_out]
    shown.sort(key=lambda one: one[0] == TEXT)
    return [(ColumnType(name, kind, declared_unit(unit_of(event, name, kind))), place) for name, kind, place in shown]


def shown_event(name: str, columns: Sequence[str], lacks: Sequence[str]) -> EventColumns:
    """Return how the columns of a table appear in `events`."""
    return EventColumns(
        name=name,
        pid=None if "common_tgid" in lacks else "common_tgid",
        tid="common_pid",
        args=tuple(column for column in columns if column not in FIXED),
    )


def counts_table(counts: Sequence[tuple[str, str, int]]) -> TraceTable:
    """Build the table of event names as in the trace, with the table and count of each."""
    columns = (ColumnType("event", "VARCHAR"), ColumnType("table", "VARCHAR"), ColumnType("count", "BIGINT"))
    return TraceTable(Schema(Kind.REGULAR, columns), None, rows=lambda: counts)
