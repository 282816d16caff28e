"""The work that is measured for span operators: tables, the question in dctv's SQL and in a peer's, and the bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

PARTS = 8
WINDOW = 1_000_000


@dataclass(frozen=True, slots=True)
class Table:
    """A table to store."""

    name: str
    data: Any
    kind: str
    partitions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Work:
    """One question over generated tables; `{a}`, `{b}`... stand for their names, `{end}` for the last time."""

    needs: str
    sql: str
    """Counts the rows of the result, and adds up one column."""
    bar: float | None = None
    """So many CPU seconds at most, where tables have `at` rows."""
    peer: str | None = None
    """The same in the peer's SQL, where it has an operator for it; `{n}` numbers the run."""
    at: int = 1_000_000
    scale: Fraction = Fraction(1)
    """How many events there are per row that is asked for."""
    unit: str = "rows a table"

    def size(self, rows: int) -> int:
        """Return how long the tables are where so many rows are asked for."""
        return int(rows * self.scale)

    def query(self, size: int, prefix: str = "") -> str:
        """Return the question over tables whose names have a prefix."""
        names = {name: prefix + name for name in ("a", "b", "a1", "b1", "b0", "begins", "ends", "samples")}
        return self.sql.format(**names, end=end_of(size), window=WINDOW)


def end_of(size: int) -> int:
    """Return where the last window of the tables ends."""
    return -(-(size // PARTS) * 1000 // WINDOW) * WINDOW


def _spans(np: Any, size: int) -> dict[str, dict[str, Any]]:
    i = np.arange(size, dtype=np.int64)
    step, part = i // PARTS, i % PARTS
    long_a, long_b = 400 + (i * 7919) % 600, 300 + (i * 104729) % 700
    utid, freq = (i * 31) % 1000, (i * 13) % 7 * 300_000
    zero = part == 0
    return {
        "a": {"_ts": step * 1000 + part * 13, "_duration": long_a, "cpu": part, "utid": utid},
        "b": {"_ts": step * 1000 + part * 17 + 250, "_duration": long_b, "cpu": part, "freq": freq},
        "a1": {"_ts": i * 1000, "_duration": long_a, "utid": utid},
        "b1": {"_ts": i * 1000 + 250, "_duration": long_b, "freq": freq},
        "b0": {"_ts": (step * 1000 + 250)[zero], "_duration": long_b[zero], "freq": freq[zero]},
    }


def _events(np: Any, size: int) -> dict[str, dict[str, Any]]:
    """Make begins and ends of slices, three deep, on 32 threads, and samples of 8 CPUs."""
    i = np.arange(size, dtype=np.int64)
    turn = i // 32 % 6
    opens = turn < 3
    times, thread = i * 10, i % 32
    name = (i * 17) % 200
    return {
        "begins": {"_ts": times[opens], "thread": thread[opens], "name": name[opens]},
        "ends": {"_ts": times[~opens], "thread": thread[~opens]},
        "samples": {"_ts": times, "cpu": i % PARTS, "value": name},
    }


_PARTITIONS = {"a": ("cpu",), "b": ("cpu",), "begins": ("thread",), "ends": ("thread",), "samples": ("cpu",)}
_MADE: dict[str, Callable[[Any, int], dict[str, dict[str, Any]]]] = {
    **dict.fromkeys(("a", "b", "a1", "b1", "b0"), _spans),
    **dict.fromkeys(("begins", "ends", "samples"), _events),
}


def tables(work: Work, size: int) -> Iterator[Table]:
    """Make the tables that a piece of work needs."""
    import numpy as np
    import pyarrow as pa

    wanted = work.needs.split()
    made = _MADE[wanted[0]](np, size)
    for name in wanted:
        kind = "event" if _MADE[name] is _events else "span"
        yield Table(name, pa.table(made[name]), kind, _PARTITIONS.get(name, ()))


def _join(kind: str, a: str = "a", b: str = "b") -> str:
    return (
        f"SELECT COUNT(*), SUM(_duration) FROM (SELECT SPAN utid, freq FROM {{{a}}} AS a SPAN {kind}JOIN {{{b}}} AS b)"
    )


def _peer_join(kind: str, by: str = " PARTITIONED cpu", tables: tuple[str, str] = ("a", "b")) -> str:
    a, b = tables
    return (
        f"CREATE VIRTUAL TABLE j{{n}} USING {kind}({a}{by}, {b}{by}); "
        "SELECT COUNT(*) AS rows, SUM(dur) AS total FROM j{n};"
    )


_EVENTS = {"at": 10_000_000, "scale": Fraction(1, 2), "unit": "events"}
"""Ten million rows ask for five million events."""

WORK: dict[str, Work] = {
    "span join": Work("a b", _join(""), 0.15, _peer_join("SPAN_JOIN")),
    "span outer join": Work("a b", _join("OUTER "), 0.2, _peer_join("SPAN_OUTER_JOIN")),
    "span left join": Work("a b", _join("LEFT "), None, _peer_join("SPAN_LEFT_JOIN")),
    "span join, unpartitioned": Work("a1 b1", _join("", "a1", "b1"), None, _peer_join("SPAN_JOIN", "", ("a1", "b1"))),
    "span join, then GROUP BY its payload": Work(
        "a b",
        """SELECT COUNT(*), SUM(d) FROM (SELECT freq, SUM(_duration) AS d
            FROM (SELECT SPAN freq FROM {a} AS a SPAN JOIN {b} AS b) GROUP BY freq)""",
        0.25,
        "CREATE VIRTUAL TABLE j{n} USING SPAN_JOIN(a PARTITIONED cpu, b PARTITIONED cpu); "
        "SELECT COUNT(*) AS rows, SUM(d) AS total FROM (SELECT freq, SUM(dur) AS d FROM j{n} GROUP BY freq);",
    ),
    "broadcast of one CPU to all": Work(
        "a b0",
        "SELECT COUNT(*), SUM(_duration) FROM (SELECT SPAN utid, freq FROM {a} AS a SPAN BROADCAST FROM {b0} AS b)",
        0.13,
        "CREATE VIRTUAL TABLE j{n} USING SPAN_JOIN(a PARTITIONED cpu, b0); "
        "SELECT COUNT(*) AS rows, SUM(dur) AS total FROM j{n};",
    ),
    "group by windows of 1 ms": Work(
        "a",
        """SELECT COUNT(*), SUM(d) FROM (SELECT SPAN SUM(_duration) AS d FROM {a} AS a
            GROUP USING SPANS FROM dctv.generate_sequential_spans(0, {end}ns, {window}ns))""",
        0.15,
        "CREATE VIRTUAL TABLE j{n} USING SPAN_JOIN(a PARTITIONED cpu, windows); "
        "SELECT COUNT(*) AS rows, SUM(d) AS total FROM (SELECT SUM(dur) AS d FROM j{n} GROUP BY cpu, number);",
    ),
    "departition, SUM": Work(
        "a",
        "SELECT COUNT(*), SUM(s) FROM (SELECT SPAN SUM(utid) AS s FROM {a} AS a GROUP USING PARTITION)",
        0.25,
        "SELECT COUNT(*) AS rows, SUM(s) AS total FROM (SELECT SUM(a.utid) AS s FROM "
        "interval_self_intersect!((SELECT id, ts, dur FROM a)) AS i JOIN a USING (id) "
        "WHERE i.interval_ends_at_ts = 0 GROUP BY i.group_id);",
    ),
    "how many are open": Work(
        "a",
        "SELECT COUNT(*), MAX(open) FROM dctv.concurrency_events({a})",
        0.25,
        "SELECT COUNT(*) AS rows, MAX(value) AS total FROM intervals_overlap_count!(a, ts, dur);",
    ),
    "begins and ends to slices": Work(
        "begins ends",
        """SELECT COUNT(*), SUM(_duration)
            FROM dctv.slices_from_stack(starts=>{begins}, stops=>{ends}, partition=>'thread')""",
        1.0,
        **_EVENTS,
    ),
    "begins and ends to slices, one table of calls": Work(
        "begins ends",
        """SELECT COUNT(*), SUM(_duration) FROM dctv.slices(begins=>{begins}, ends=>{ends}, partition=>'thread')""",
        1.0,
        **_EVENTS,
    ),
    "begins and ends to a history of stacks": Work(
        "begins ends",
        """SELECT COUNT(*), SUM(_duration)
            FROM dctv.stack_history(starts=>{begins}, stops=>{ends}, token=>'name', partition=>'thread')""",
        None,
        **_EVENTS,
    ),
    "series to spans": Work(
        "samples",
        """SELECT COUNT(*), SUM(_duration)
            FROM dctv.time_series_to_spans(
                sources=>[{{source=>{samples}, partition=>'cpu'}}], columns=>['value'], partition=>'cpu')""",
        None,
        "SELECT COUNT(*) AS rows, SUM(dur) AS total FROM "
        "(SELECT LEAD(ts) OVER (PARTITION BY cpu ORDER BY ts) - ts AS dur FROM samples) WHERE dur > 0;",
        **_EVENTS,
    ),
}
