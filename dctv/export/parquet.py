"""Write a mounted trace as a folder of Parquet files, one for each of its tables and common views."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dctv.errors import UsageError, reason_of
from dctv.session import Session
from dctv.whole_file import file_sink
from dctv.writers.parquet import write

VOCABULARY = ("slices", "async_slices", "counters", "instants", "flows", "threads", "processes", "tracks")
OF_THE_KERNEL = (
    "cpus",
    "scheduler.timeslices_p_cpu",
    "scheduler.thread_states_p_tid",
    "scheduler.wakeups",
    "scheduler.cpufreq_p_cpu",
    "cpu.frequency_limits_p_cpu",
    "cpu.idle_p_cpu",
    "irq.hard_p_cpu",
    "irq.soft_p_cpu",
    "samples.samples",
)
"""Views that are written if they have rows."""
_RAW = "raw_events."
_METADATA_TABLES = ("properties", "diagnostics")
_COMPUTED = ("events", "state")
"""Tables that repeat the contents of event tables."""


def write_folder(session: Session, name: str, folder: Path, check: Callable[[], None]) -> int:
    """Write the tables of the trace and the common views; return the number of files.

    Raises:
        UsageError: the folder is not empty, or cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError(f"the folder `{folder}` is not empty")
    except OSError as error:
        raise UsageError(f"cannot write `{folder}`: {reason_of(error)}") from None
    wanted = _table_names(session, name)
    for table in wanted:
        # An event's own name may contain dots.
        space, _, last = table.partition(".") if table.startswith(_RAW) else table.rpartition(".")
        target = folder / space / f"{_safe(last)}.parquet"
        target.parent.mkdir(exist_ok=True)
        with file_sink(target) as sink:
            path = ".".join((name, *([space] if space else []), _quoted(last)))
            write(session.sql(" ".join(("SELECT * FROM", path))), sink.stream)
        check()
    return len(wanted)


def _table_names(session: Session, name: str) -> list[str]:
    """Return the names of the tables to write, below the mount: all of the trace, and some views."""
    prefix = f"{name}."
    found = {one.name.removeprefix(prefix): one.kind for one in session.tables(name)}
    own = [table for table, kind in found.items() if kind not in {"view", "function", "macro", "table macro"}]
    raw = [table for table in own if table.startswith(_RAW)]
    others = [one for one in own if "." not in one and f"{name}.{one}" in session.stored_tables(f"{name}.{one}")]
    stored = [*raw, *(table for table in others if table not in {*_COMPUTED, *_METADATA_TABLES}), *_METADATA_TABLES]
    views = [table for table in VOCABULARY if found.get(table) == "view"]
    rows = "SELECT * FROM {} LIMIT 1"
    kernel_tables = [table for table in OF_THE_KERNEL if session.sql(rows.format(f"{name}.{table}")).arrow().num_rows]
    return [*stored, *views, *kernel_tables]


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _safe(name: str) -> str:
    """Return a valid name for a file."""
    kept = "".join(letter if letter.isalnum() or letter in "-_.,+=@ ()" else f"%{ord(letter):02x}" for letter in name)
    return kept.lstrip(".")[:200] or "%"
