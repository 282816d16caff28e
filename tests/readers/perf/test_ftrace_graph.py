"""The function graph tracer's text, and latency formats and stacks in other text of ftrace."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.contracts.reader import Head
from dctv.readers import ftrace_graph, ftrace_text
from tests.bounds import bounded
from tests.damage import survives
from tests.readers.perf.perf_reading import load, rows

GRAPH = """# tracer: function_graph
#
# CPU  DURATION                  FUNCTION CALLS
 0)               |  sys_open() {
 0)               |    do_sys_open() {
 0)   0.646 us    |      _spin_lock();
 0)               |      /* sched_wakeup: comm=a b pid=3 prio=120 target_cpu=001 */
 0) + 12.586 us   |    } /* do_sys_open = 0x3 */
 1)   ==========> |
 1)   1.000 us    |  irq_enter(n=1);
 1)   <========== |
 0) ! 113.586 us  |  }
 ------------------------------------------
 0)  migration-10  =>   cat-1234
 ------------------------------------------

 0)               |  /* hello world */
 garbage
CPU:1 [LOST 7 EVENTS]
"""
TIMED = """#     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS
  360.774522 |   1)    sh-4802    |               |  vfs_read() {
  360.774522 |   1)    sh-4802    |   0.541 us    |    mutex_lock();
  360.774525 |   1)    sh-4802    |   2.541 us    |  }
"""
LATENCY = """# tracer: irqsoff
#
# irqsoff latency trace v1.1.5 on 3.8.0-test+
#  => started at: run_timer_softirq
  <idle>-0       0d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq
 my task-12      1d..3   25us : sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> \
next_comm=b next_pid=2 next_prio=120
  <idle>-0       0dNs3   25us : <stack trace>
 => _raw_spin_unlock_irq
 => __do_softirq
          <idle>-0       2d..1  1.567890: cpu_idle: state=1 cpu_id=2
 => orphan
"""


def test_graph(tmp_path: Path) -> None:
    path = tmp_path / "a.graph"
    path.write_text(GRAPH)
    trace = load(ftrace_graph.READER, path)
    entries = rows(trace, "raw_events.funcgraph_entry")
    assert [(row["func"], row["depth"], row.get("duration")) for row in entries] == [
        ("sys_open", 0, None),
        ("do_sys_open", 1, None),
        ("_spin_lock", 2, 646),
        ("irq_enter", 0, 1000),
    ]
    assert entries[3]["params"] == "n=1"
    exits = rows(trace, "raw_events.funcgraph_exit")
    assert [(row["_ts"], row["depth"], row["duration"]) for row in exits] == [
        (12_586, 1, 12_586),
        (113_586, 0, 113_586),
    ]
    assert exits[0]["retval"] == "0x3"
    (wakeup,) = rows(trace, "raw_events.sched_wakeup")
    assert wakeup["comm"] == "a b"
    assert rows(trace, "raw_events.print")[0]["text"] == "hello world"
    assert [row["entry"] for row in rows(trace, "raw_events.funcgraph_irq")] == [True, False]
    assert rows(trace, "raw_events.funcgraph_switch")[0]["next_comm"] == "cat"
    assert {note.reason: note.count for note in trace.diagnostics} == {
        "line is not an event": 1,
        "events lost by the kernel": 7,
    }
    assert trace.properties["clock"] == "durations"


def test_times(tmp_path: Path) -> None:
    path = tmp_path / "a.graph"
    path.write_text(TIMED)
    trace = load(ftrace_graph.READER, path)
    assert [row["_ts"] for row in rows(trace, "raw_events.funcgraph_entry")] == [0, 0]
    (leave,) = rows(trace, "raw_events.funcgraph_exit")
    assert (leave["_ts"], leave["common_comm"], leave["common_pid"]) == (3000, "sh", 4802)
    assert trace.properties["clock"] == "trace"


def test_latency(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(LATENCY)
    trace = load(ftrace_text.READER, path)
    assert rows(trace, "raw_events.function")[0]["common_flags"] == "d.s2"
    (switch,) = rows(trace, "raw_events.sched_switch")
    assert (switch["_ts"], switch["cpu"], switch["common_comm"], switch["common_pid"]) == (25_000, 1, "my task", 12)
    (stack,) = rows(trace, "raw_events.kernel_stack")
    assert stack["stack"] == "__do_softirq;_raw_spin_unlock_irq"
    (idle,) = rows(trace, "raw_events.cpu_idle")
    assert idle["_ts"] == 1_567_890_000
    assert [(note.reason, note.count) for note in trace.diagnostics] == [("line of a stack trace", 1)]


@pytest.mark.parametrize(("text", "graph"), [(GRAPH, True), (TIMED, True), (LATENCY, False)])
def test_sniffed(text: str, *, graph: bool) -> None:
    assert ftrace_graph.READER.sniff(Head(Path("x"), text.encode(), text.encode())) is graph


def test_stacks_over_chunks(tmp_path: Path) -> None:
    """Lines of a stack stay with their event wherever a chunk could begin."""
    from dctv.contracts.reader import LoadContext
    from dctv.readers.ftrace_events.chunks import start

    event = "          <idle>-0       [002] d..1  {n}.567890: kernel_stack: <stack trace>\n"
    one = f"{event} => leaf_{{n}}\n => mid\n => root\n"
    path = tmp_path / "a.txt"
    path.write_text("".join(one.format(n=n) for n in range(200)))
    for size in (64, 100, 333, 5000):
        run = start([path], LoadContext({}, 2, lambda _done, _total: None), None, size)
        stacks = [stack for chunk in run for _, batch in chunk.events for stack in batch.column("stack").to_pylist()]
        assert stacks == [f"root;mid;leaf_{n}" for n in range(200)], size


@bounded(60)
@given(data=st.binary(max_size=200), at=st.integers(0, len(GRAPH)))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes, at: int) -> None:
    folder = tmp_path_factory.mktemp("any")
    survives(ftrace_graph.READER, folder / "a.txt", GRAPH.encode()[:at] + data + GRAPH.encode()[at:])


ROUNDED = """# tracer: function_graph
#
#     TIME        CPU  DURATION                  FUNCTION CALLS
#      |          |     |   |                     |   |   |   |
  360.774522 |   1)               |  outer() {
  360.774523 |   1)   0.541 us    |    leaf();
  360.774523 |   1)   0.900 us    |  }
  360.774523 |   1)               |  outer2() {
  360.774525 |   1)   1.100 us    |  }
"""
WITHOUT_DURATIONS = """# tracer: function_graph
  360.774522 |   1)  sys_open() {
  360.774523 |   1)    leaf();
  360.774524 |   1)    /* hello */
  360.774525 |   1)  }
"""
CPUS_ONLY = """# tracer: function_graph
#
# CPU  FUNCTION CALLS
 0)  sys_open() {
 0)    leaf();
 0)  } /* sys_open */
"""
TASKS = """# tracer: function_graph
 0)    cat-12    |  sys_open() {
 0)    cat-12    |    leaf();
 0)    cat-12    |  }
"""
MIGRATED = """# tracer: function_graph
 0)    cat-12    |   2.000 us    |  first();
 0)    cat-12    |               |  sys_open() {
 0)    cat-12    | ! 500.00 us   |    leaf();
 1)    sh-13     |   1.000 us    |  other();
 1)    cat-12    |   3.000 us    |    late();
 1)    cat-12    | ! 510.00 us   |  }
"""


def calls(text: str, folder: Path) -> list[tuple[object, ...]]:
    from dctv.session import Session

    path = folder / "calls.graph"
    path.write_text(text)
    with Session(index=False) as session:
        session.mount(str(path), "t")
        found = session.sql("SELECT name, _duration, depth, parent_id, id FROM t.calls ORDER BY id").arrow()
        return [tuple(row.values()) for row in found.to_pylist()]


def test_durations_are_the_printed_ones(tmp_path: Path) -> None:
    """F11: times are whole microseconds, durations are not."""
    assert calls(ROUNDED, tmp_path) == [
        ("outer", 900, 0, None, 1),
        ("leaf", 541, 1, 1, 2),
        ("outer2", 1100, 0, None, 3),
    ]


@pytest.mark.parametrize(
    ("text", "durations"), [(WITHOUT_DURATIONS, (3000, None)), (CPUS_ONLY, (None, None)), (TASKS, (None, None))]
)
def test_without_a_column_of_durations(text: str, durations: tuple[object, ...], tmp_path: Path) -> None:
    """F11: of `nofuncgraph-duration` nothing was read."""
    assert calls(text, tmp_path) == [("sys_open", durations[0], 0, None, 1), ("leaf", durations[1], 1, 1, 2)]
    path = tmp_path / "a.graph"
    path.write_text(text)
    assert list(load(ftrace_graph.READER, path).diagnostics) == []


def test_a_thread_continues_on_another_cpu(tmp_path: Path) -> None:
    """F11: times that are made of durations began anew on each CPU, and calls lasted up to 15 ms too long."""
    assert [row[:3] for row in calls(MIGRATED, tmp_path) if row[0] != "other"] == [
        ("first", 2000, 0),
        ("sys_open", 510_000, 0),
        ("leaf", 500_000, 1),
        ("late", 3000, 1),
    ]


def test_a_graph_that_ends_in_the_middle_of_a_line(tmp_path: Path) -> None:
    """G4: it is not whole."""
    path = tmp_path / "a.graph"
    path.write_text(ROUNDED[:-5])
    assert [one.reason for one in load(ftrace_graph.READER, path).diagnostics if one.incomplete] == [
        "file ends in the middle of a line"
    ]
