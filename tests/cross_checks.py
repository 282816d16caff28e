"""Consistency of the views of one trace: invariants of any trace, as queries whose rows are violations."""

from __future__ import annotations

from collections.abc import Iterator

from dctv.session import Session

SWITCHES = "t.raw_events.sched_switch"
MEMORY = ("t.raw_events.rss_stat", "t.raw_events.kmem_rss_stat")

SCHEDULER = {
    "time of processes is not that of their threads": """
        SELECT p.running, t.running, p.runnable, t.runnable, p.preemptions, t.preemptions, p.migrations, t.migrations
        FROM (SELECT SUM(running) AS running, SUM(runnable) AS runnable, SUM(preemptions) AS preemptions,
          SUM(migrations) AS migrations FROM t.scheduler.cpu_time_by_process) AS p
        CROSS JOIN (SELECT SUM(running) AS running, SUM(runnable) AS runnable, SUM(preemptions) AS preemptions,
          SUM(migrations) AS migrations FROM t.scheduler.thread_summary) AS t
        WHERE NOT p.running <=> t.running OR NOT p.runnable <=> t.runnable
          OR NOT p.preemptions <=> t.preemptions OR NOT p.migrations <=> t.migrations""",
    "a thread that ran has no process, though events tell it": """
        SELECT r.tid, e.pid
        FROM (SELECT DISTINCT tid FROM t.scheduler.timeslices) AS r
        JOIN (
          SELECT tid, MAX(pid) AS pid FROM t.events WHERE pid > 0 AND tid > 0 GROUP BY tid
          UNION SELECT pid, pid FROM t.processes
        ) AS e ON e.tid = r.tid
        WHERE r.tid NOT IN (SELECT tid FROM t.threads WHERE pid IS NOT NULL)""",
    "a thread's main thread is of another process": """
        SELECT tid, pid, is_main FROM t.threads WHERE is_main != (tid = pid)""",
    "states of a thread add up to more than its life": """
        SELECT tid, SUM(_duration) AS states, MAX(_ts + _duration) - MIN(_ts) AS life
        FROM t.scheduler.thread_states_p_tid GROUP BY tid HAVING SUM(_duration) > MAX(_ts + _duration) - MIN(_ts)""",
    "a CPU ran more than there was time": """
        SELECT cpu, SUM(_duration) FROM t.scheduler.thread_states_p_tid WHERE state = 'running'
        GROUP BY cpu HAVING SUM(_duration) > (SELECT MAX(_ts) FROM t.last_ts)""",
    "running is not what timeslices add up to": """
        SELECT COALESCE(s.tid, r.tid) AS tid, s.time, r.time
        FROM (SELECT tid, SUM(_duration) AS time FROM t.scheduler.timeslices GROUP BY tid) AS s
        FULL JOIN (
          -- Nothing tells what ends the last timeslice of a CPU, which is none.
          SELECT s.tid, SUM(s.end_ts - s._ts) AS time
          FROM t.scheduler.states AS s
          JOIN (SELECT cpu, MAX(_ts + _duration) AS last_ts FROM t.scheduler.timeslices_p_cpu GROUP BY cpu) AS c
          ON c.cpu = s.cpu
          WHERE s.state = 'running' AND s.end_ts > s._ts AND s._ts < c.last_ts GROUP BY s.tid
        ) AS r ON r.tid = s.tid
        WHERE NOT s.time <=> r.time""",
    "a state lies outside the trace": """
        SELECT tid, _ts, _duration FROM t.scheduler.thread_states_p_tid
        WHERE _ts < 0 OR _ts + _duration > (SELECT MAX(_ts) FROM t.last_ts)""",
    "a timeslice lies outside the trace": """
        SELECT cpu, _ts, _duration FROM t.scheduler.timeslices_p_cpu
        WHERE _ts < 0 OR _ts + _duration > (SELECT MAX(_ts) FROM t.last_ts)""",
}
MEMORY_CHECKS = {
    "memory is of what is no process": """
        SELECT DISTINCT pid FROM t.memory.rss WHERE pid NOT IN (SELECT pid FROM t.processes)""",
    "memory of a thread is not that of its process": """
        SELECT DISTINCT r.tid, r.pid, o.pid FROM t.memory.rss_changes AS r JOIN t.threads AS o ON o.tid = r.tid
        WHERE r.pid = r.tid AND o.pid != r.tid""",
    "an event of memory is in no row": """
        SELECT (SELECT COUNT(*) FROM t.memory.rss_changes), (SELECT COUNT(*) FROM t.raw_events.rss_stat)
        WHERE (SELECT COUNT(*) FROM t.memory.rss_changes) != (SELECT COUNT(*) FROM t.raw_events.rss_stat)""",
    "memory lies outside the trace": """
        SELECT _ts, _duration FROM t.memory.rss WHERE _ts < 0 OR _ts + _duration > (SELECT MAX(_ts) FROM t.last_ts)""",
}
ALWAYS = {
    "a thread is listed twice": """
        SELECT host, pid, tid, COUNT(*) FROM t.threads GROUP BY host, pid, tid HAVING COUNT(*) > 1""",
    "a process of a thread is not listed": """
        SELECT DISTINCT t.host, t.pid
        FROM t.threads AS t LEFT JOIN t.processes AS p ON p.pid = t.pid AND p.host <=> t.host
        WHERE t.pid IS NOT NULL AND p.pid IS NULL""",
    "a thread of an event is not listed": """
        SELECT DISTINCT tid FROM t.events WHERE tid > 0 AND tid NOT IN (SELECT tid FROM t.threads)""",
    "a process of an event is not listed": """
        SELECT DISTINCT pid FROM t.events WHERE pid > 0 AND pid NOT IN (SELECT pid FROM t.processes)""",
    "a slice lies outside the trace": """
        SELECT _ts, _duration FROM t.slices
        WHERE _ts < 0 OR _ts + COALESCE(_duration, 0ns) > (SELECT MAX(_ts) FROM t.last_ts)""",
    "a counter lies outside the trace": """
        SELECT _ts, _duration FROM t.counters WHERE _ts < 0 OR _ts + _duration > (SELECT MAX(_ts) FROM t.last_ts)""",
}


def faults(session: Session) -> Iterator[str]:
    """Return the violated invariants of the trace mounted as `t`, each with its first rows."""
    tables = {table.name for table in session.tables("t")}
    checks: dict[str, str] = {}
    if tables & {SWITCHES, *MEMORY, "t.thread_names"}:
        checks |= ALWAYS
    if SWITCHES in tables:
        checks |= SCHEDULER
    if MEMORY[0] in tables:
        checks |= MEMORY_CHECKS
    for fault, sql in checks.items():
        rows = session.sql(sql).fetchall()
        if rows:
            yield f"{fault}: {len(rows)} rows, such as {rows[:3]}"
    counted = [name for name in tables if name.startswith("t.raw_events.")]
    parts = (("t", "raw_events", name.removeprefix("t.raw_events.")) for name in counted)
    quoted = [".".join(f"`{part}`" for part in name) for name in parts]
    sums = " + ".join(f"(SELECT COUNT(*) FROM {name})" for name in quoted) or "0"
    ((shown, stored),) = session.sql(f"SELECT (SELECT COUNT(*) FROM t.events), {sums}").fetchall()
    if shown != stored:
        yield f"`events` has {shown} rows, the tables of raw events {stored}"
