"""Traces of 32-bit kernels, whose `long` numbers are printed in hexadecimal of eight digits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dctv.session import Session

SWITCH = (
    "{:>16}-{} [002] 10.40{}000: sched_switch: prev_comm={} prev_pid={} prev_prio=120 prev_state={} "
    "next_comm={} next_pid={} next_prio=120\n"
)
SWITCHES = (
    (0, "a", 674, 1, "b", 679),
    (1, "b", 679, 0, "c", 680),
    (2, "c", 680, 2, "b", 679),
    (4, "b", 679, 1, "c", 680),
)
CALLS = """# tracer: nop
#
 cat-120   [000] ....   100.000100: sys_read(fd: 3, buf: bef00000, count: 1000)
 cat-120   [000] ....   100.000110: sys_read -> 0xfffffff5
 cat-120   [000] ....   100.000200: sys_mmap2(addr: 0, len: 1000)
 cat-120   [000] ....   100.000210: sys_mmap2 -> 0xfffff000
"""


def rows(path: Path, text: str, *queries: str) -> list[list[tuple[Any, ...]]]:
    path.write_text(text)
    with Session(index=False) as session:
        session.mount(path, "t")
        return [session.sql(one).fetchall() for one in queries]


def switches(form: str) -> str:
    lines = (
        SWITCH.format(comm, tid, at, comm, tid, form.format(state), after, next_tid)
        for at, comm, tid, state, after, next_tid in SWITCHES
    )
    return "version = 6\ncpus=4\n" + "".join(lines)


def test_states_of_threads(tmp_path: Path) -> None:
    queries = (
        "SELECT tid, runnable, sleeping, uninterruptible FROM t.scheduler.thread_summary ORDER BY tid",
        "SELECT tid, by_tid, kind FROM t.scheduler.preemptions",
    )
    found = rows(tmp_path / "hexadecimal.txt", switches("{:#x}"), *queries)
    ms = 1_000_000
    assert found[0] == [(674, 0, 4 * ms, 0), (679, ms, 0, 0), (680, 0, 0, 2 * ms)]
    assert [row[:2] for row in found[1]] == [(679, 680)]
    assert found == rows(tmp_path / "decimal.txt", switches("{}"), *queries)


def test_failed_system_calls(tmp_path: Path) -> None:
    queries = "SELECT name, ret, failed FROM t.syscalls.calls ORDER BY _ts", "SELECT unitless(bytes) FROM t.io.calls"
    calls, bytes_of_calls = rows(tmp_path / "calls.txt", CALLS, *queries)
    assert calls == [("read", -11, True), ("mmap2", 0xFFFFF000, False)]
    assert bytes_of_calls == [(0,)]
