"""Lines as the kernel writes them with options such as `fields` and `verbose`, and as tools write them."""

from __future__ import annotations

import pytest

from dctv.contracts.reader import LoadedTrace
from dctv.session import Session
from tests.readers.ftrace_text.ftrace_reading import event_counts, fields, read

RAW = "17449 0 1964053822304 type: 372\n16871 0 1964057140725 type: 372\n"
HEX = "00004429 00000000 000001c94abafb60 type: 372\n\n000043c1 00000001 000001c94ae07a3b type: 372\n"
NO_CONTEXT = "sched_waking: comm=rcu_preempt pid=15 prio=120 target_cpu=000\nsys_exit: NR 1 = 2\n"


def rows(trace: LoadedTrace, name: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = trace.tables[f"raw_events.{name}"].data.to_pylist()
    return found


def test_numbers_of_the_option_fields() -> None:
    """F8: `0x1da5 (7589)` is a number, so that views of the scheduler see it."""
    found = fields(
        "sched_switch: prev_comm=opt cgu.1 prev_pid=0x1da5 (7589) prev_prio=0x8b (139) prev_state=0x80 (128) "
        "next_comm=python3 (x) next_pid=0x223c (8764) next_prio=0x78 (120)"
    )
    assert found == {
        "": "sched_switch",
        "prev_comm": "opt cgu.1",
        "prev_pid": 7589,
        "prev_prio": 139,
        "prev_state": "128",
        "next_comm": "python3 (x)",
        "next_pid": 8764,
        "next_prio": 120,
    }
    found = fields(
        "hrtimer_expire_entry: hrtimer=0xffffc900036f7c78 (-60473081889672) now=0x24e0c8fe40a (2534241461258) "
        "function=hrtimer_wakeup+0x0/0x30 (-2126388048)"
    )
    assert found == {
        "": "hrtimer_expire_entry",
        "hrtimer": "0xffffc900036f7c78",
        "now": 2534241461258,
        "function": "hrtimer_wakeup+0x0/0x30",
    }
    assert fields("e: a=0x10 (17) b=0x10 (16)") == {"": "e", "a": "0x10 (17)", "b": 16}


def test_verbose_lines() -> None:
    """F8: their time is the hexadecimal number in brackets."""
    trace = read(
        "# tracer: nop\n# latency: 0 us, #3/3, CPU#0 | (M:PREEMPT VP:0, KP:0, SP:0 HP:0 #P:2)\n"
        "      lto cgu.14   17345   1 9 00000002 00000001 [75111ed8] 19.987ms (+0.861ms): e: a=1\n"
        "          python   16871   0 1 00000002 00000002 [75112235] 20.848ms (+3.127ms): e: a=2\n"
        "          python   16871   0 1 00000002 00000002 [751122360] 20.848ms (+3.127ms): tracing_mark_write: E|1\n"
    )
    assert rows(trace, "e") == [
        {"_ts": 0, "cpu": 1, "common_comm": "lto cgu.14", "common_pid": 17345, "common_flags": "9", "a": 1},
        {"_ts": 861_000, "cpu": 0, "common_comm": "python", "common_pid": 16871, "common_flags": "1", "a": 2},
    ]
    assert len(rows(trace, "print|E")) == 1
    assert list(trace.diagnostics) == []


@pytest.mark.parametrize("writer", ["tracing_mark_write <ffffffff8149895a>", "tracing_mark_write+0x8a/0x170"])
def test_marks_whose_writer_has_an_address(writer: str) -> None:
    """F8: `sym-addr` and `sym-offset` lost all marks."""
    trace = read(f" sh-7 [001] ...1. 2.5: {writer}: B|7|work 1\n sh-7 [001] ...1. 2.6: {writer}: hello\n")
    assert [row["name"] for row in rows(trace, "print|B")] == ["work 1"]
    assert [row["text"] for row in rows(trace, "print")] == ["hello"]
    assert [event for event, _, _ in event_counts(trace)] == ["tracing_mark_write"] * 2


def test_functions_with_addresses() -> None:
    trace = read(" sh-7 [001] ...1. 2.5: vfs_read <ffffffff8149895a> <-ksys_read <ffffffff81498000>\n")
    assert [(row["ip"], row["parent_ip"]) for row in rows(trace, "function")] == [("vfs_read", "ksys_read")]


@pytest.mark.parametrize("text", [RAW, HEX, NO_CONTEXT])
def test_a_mostly_unreadable_trace_is_incomplete(text: str) -> None:
    """F8: without names, or without times, it is unreadable."""
    trace = read(f"# tracer: nop\n#\n# entries-in-buffer/entries-written: 2/2   #P:2\n{text}")
    assert [(found.reason, found.count, found.incomplete) for found in trace.diagnostics] == [
        ("line is not an event", 2, False),
        ("most lines could not be read", 2, True),
    ]
    assert trace.diagnostics[1].example == "2 of 2 lines"


def test_a_few_lines_that_cannot_be_read_are_no_more_than_counted() -> None:
    trace = read(" sh-7 [001] 2.5: e: a=1\n" * 2 + "what\n" * 2)
    assert [(found.reason, found.incomplete) for found in trace.diagnostics] == [("line is not an event", False)]


@pytest.mark.parametrize(
    ("joined", "flags", "ts"),
    [
        ("....316.196720", "....", 316_196_720_000),
        ("d...316.196740", "d...", 316_196_740_000),
        ("d..2316.196740", "d..2", 316_196_740_000),
        ("dNh2.316.196740", "dNh2.", 316_196_740_000),
    ],
)
def test_flags_and_time_without_a_blank(joined: str, flags: str, ts: int) -> None:
    """A17: such lines were dropped."""
    trace = read(f"kworker/u16:1-77    (   77) [004] {joined}: tracing_mark_write: B|77|x\n")
    (row,) = rows(trace, "print|B")
    assert (row["common_flags"], row["cpu"], trace.properties["start_ns"]) == (flags, 4, str(ts))
    assert list(trace.diagnostics) == []


def test_differences_between_times() -> None:
    """F4: of `trace-cmd report --ts-diff` only the first event was read."""
    trace = read(
        "cpus=2\n         work.sh-22524 [001]  2133.683733:          sys_exit_write:       0x1\n"
        "         work.sh-22524 [001]  2133.683773: (+40)    e:     a=1\n"
        "         work.sh-22524 [001]  2133.683774 (+0.000001): e:     a=2\n"
    )
    assert [(row["_ts"], row["a"]) for row in rows(trace, "e")] == [(40_000, 1), (41_000, 2)]
    assert list(trace.diagnostics) == []


REPORT = """cpus=2
  a-1 [001]  1.000001000: sys_enter_access:     filename: 0x7ef0, mode: 0x00000004
  a-1 [001]  1.000002000: sys_exit_access:      0xfffffffffffffffe
  a-1 [001]  1.000003000: sys_enter_openat:     dfd: 0xffffff9c, filename: 0x7efea3ddd0b1
  a-1 [001]  1.000004000: sys_exit_openat:      0x3
  a-1 [001]  1.000005000: sched_switch:         a:1 [120] W ==> b:2 [120]
  b-2 [001]  1.000006000: sched_switch:         b:2 [120] S ==> swapper/1:0 [120]
  <idle>-0 [001]  1.000007000: sched_switch:         swapper/1:0 [120] R ==> c:3 [120]
"""


def test_system_calls_and_idle_threads_of_reports(tmp_path_factory: pytest.TempPathFactory) -> None:
    """F3 and F4: errors of `trace-cmd report`, and its name of TASK_IDLE."""
    path = tmp_path_factory.mktemp("report") / "report.txt"
    path.write_text(REPORT)
    with Session() as session:
        session.mount(str(path), "t")
        calls = session.sql("SELECT name, ret, failed FROM t.syscalls.calls ORDER BY _ts").arrow().to_pylist()
        assert [tuple(row.values()) for row in calls] == [("access", -2, True), ("openat", 3, False)]
        states = session.sql("SELECT state, kernel_state FROM t.scheduler.states WHERE tid = 1 ORDER BY _ts")
        assert [tuple(row.values()) for row in states.arrow().to_pylist()] == [("sleeping", "I")]


def test_a_state_that_the_kernel_names_itself_stays() -> None:
    assert (
        fields(
            "sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=W ==> next_comm=b next_pid=2 next_prio=120"
        )["prev_state"]
        == "W"
    )


@pytest.mark.parametrize(
    "lines",
    [
        "first:             bash-17    [001] d..2. 45.000000001: e: a=1\n"
        "second:  a: b [0] c-d: 1-18    [000] ..... 45.000000002: e: a=2\n"
        "                   bash-17    [001] dNh21     45.000000003: e: a=3\n",
        "first:     bash-17      1d..2. 45.000000001: e: a=1\n"
        "second: a: b [0]-18      0..... 45.000000002: e: a=2\n"
        "           bash-17      1dNh21 45.000000003: e: a=3\n",
        "first:             bash-17    [001] d..2.45000000001: e: a=1\n"
        "second:  a: b [0] c-d: 1-18    [000] .....45000000002: e: a=2\n"
        "                   bash-17    [001] dNh2145000000003: e: a=3\n",
        "first:     bash-17      1d..2.45000000001: e: a=1\n"
        "second: a: b [0]-18      0.....45000000002: e: a=2\n"
        "           bash-17      1dNh2145000000003: e: a=3\n",
    ],
)
def test_reports_name_the_buffer_and_join_flags_and_times(lines: str) -> None:
    """`trace-cmd report` of instances, of the latency format (`-l`), and of a clock in ns or `--raw-ts`."""
    trace = read("cpus=2\n" + lines)
    found = trace.tables["raw_events.e"].data.to_pylist()
    assert [(row["_ts"], row["a"], row["buffer"], row["common_flags"]) for row in found] == [
        (0, 1, "first", "d..2."),
        (1, 2, "second", "....."),
        (2, 3, None, "dNh21"),
    ]
    names = [row["common_comm"] for row in found]
    assert names in (["bash", "a: b [0] c-d: 1", "bash"], ["bash", "a: b [0]", "bash"])
    assert int(trace.properties["start_ns"]) == 45_000_000_001


def test_losses_of_a_buffer_in_a_report_are_counted() -> None:
    trace = read(
        "one: CPU:1 [7 EVENTS DROPPED]\n             bash-17    [001] ..... 5.000000001: e: a=1\n"
        "one:             bash-17    [001] ..... 5.000000002: e: a=2\n"
    )
    assert {one.reason: one.count for one in trace.diagnostics} == {"events lost by the kernel": 7}
    assert [row["buffer"] for row in trace.tables["raw_events.e"].data.to_pylist()] == [None, "one"]


def test_a_field_called_as_the_buffer_keeps_its_column() -> None:
    (row,) = read("one:             bash-17    [001] ..... 5.5: e: buffer=3\n").tables["raw_events.e"].data.to_pylist()
    assert (row["buffer"], row["text"]) == (3, "buffer=one")


def test_places_of_events_in_buffers_are_not_in_values() -> None:
    """`trace-cmd report --debug` puts the time since the last event, the offset and the size behind each event."""
    lines = (
        "             bash-17    [001] ..... 5.000000001: e: a=1 b=x [12] [1502:0xd14:24]\n"
        "             bash-17    [001] ..... 5.000000002: e: a=2 b=y [1:2:3]\n"
    )
    found = read(lines).tables["raw_events.e"].data.to_pylist()
    assert [(row["a"], row["b"]) for row in found] == [(1, "x [12]"), (2, "y [1:2:3]")]


def test_bytes_that_programs_write_are_an_event() -> None:
    """What is written into `trace_marker_raw`, whose number is hexadecimal as well; other texts have no name."""
    lines = (
        "             bash-17    [001] ..... 5.000001: # 1f buf: 61 00 ff\n"
        "             bash-17    [001] ..... 5.000002: # 1f other\n"
        "             bash-17    [001] ..... 5.000003: raw_data:             # 20 62\n"
    )
    trace = read(lines)
    found = trace.tables["raw_events.raw_data"].data.to_pylist()
    assert [(row["id"], row["buf"]) for row in found] == [(31, "6100ff"), (32, "62")]
    assert {one.reason: one.count for one in trace.diagnostics} == {"line has a time but no event name": 1}


def test_functions_of_reports_with_depths_and_values() -> None:
    """`trace-cmd report` adds the value that a function returned, and the depth with `-O fgraph:depth`."""
    prefix = "             bash-17    [001] ..... "
    lines = (
        f"{prefix}5.000001000: fgraph_retaddr_entry:              |  outer(a=1) /* <-caller */ {{ (0)\n"
        f"{prefix}5.000002000: funcgraph_entry:        1.500 us   |    leaf(); (1) /* <-outer */ (ret=0x3)\n"
        f"{prefix}5.000004000: funcgraph_exit:         3.000 us   |  }} /* outer */ (0) (ret=-2)\n"
        f"{prefix}5.000005000: funcgraph_entry:        0.500 us   |  other(); (ret=0xffff888100000000)\n"
        f"{prefix}5.000006000: funcgraph_entry:                   |  ) {{\n"
    )
    trace = read(lines)
    entries = trace.tables["raw_events.funcgraph_entry"].data.to_pylist()
    assert [(row["func"], row["depth"], row.get("retval")) for row in entries] == [
        ("outer", 0, None),
        ("leaf", 1, "0x3"),
        ("other", 0, "0xffff888100000000"),
        (None, 0, None),
    ]
    (end,) = trace.tables["raw_events.funcgraph_exit"].data.to_pylist()
    assert (end["func"], end["depth"], end["retval"], end["duration"]) == ("outer", 0, "-2", 3000)


def test_stacks_of_reports() -> None:
    """Addresses stand behind names; the first caller of a user's stack stands behind the event's name."""
    prefix = "             bash-17    [001] ..... "
    lines = (
        f"{prefix}5.000001000: kernel_stack:         <stack trace >\n"
        "=> schedule (ffffffff81000101)\n=> ffffffff81000205\n=> f (x)\n=> g <ffffffff81000205>\n"
        f"{prefix}5.000002000: user_stack:           \t=> 0x401000\n\t=> 0x402000\n\t=> 0x0\n\t=> 0x0\n"
    )
    trace = read(lines)
    (kernel,) = trace.tables["raw_events.kernel_stack"].data.to_pylist()
    (user,) = trace.tables["raw_events.user_stack"].data.to_pylist()
    assert kernel["stack"] == "g;f (x);ffffffff81000205;schedule"
    assert user["stack"] == "0x402000;0x401000"
    assert "text" not in user
