"""What stands before the event: task, process, CPU, flags and time, in every form of it."""

from __future__ import annotations

import pytest

from dctv.contracts.reader import LoadedTrace
from dctv.types.schema import Kind
from tests.readers.ftrace_text.ftrace_reading import event_counts, read

OLD = "       a.b c-d-17    [001]  50260.647576: my_event: a=1\n"
FLAGS = "          <idle>-0     [002] d.h2 50260.647577: my_event: a=2\n"
TGID = "            adbd-584   (  315) [000] ...1. 50260.647578123: my_event: a=3\n"
NO_TGID = "           <...>-585   (-----) [000] ...1. 50260.647579: my_event: a=4\n"


def rows(trace: LoadedTrace, name: str = "my_event") -> list[dict[str, object]]:
    found: list[dict[str, object]] = trace.tables[f"raw_events.{name}"].data.to_pylist()
    return found


def test_columns_exist_only_if_the_trace_has_them() -> None:
    plain = {"_ts": 0, "cpu": 1, "common_comm": "a.b c-d", "common_pid": 17, "a": 1}
    assert rows(read(OLD)) == [plain]
    assert rows(read(OLD + FLAGS)) == [
        {"_ts": 0, "cpu": 1, "common_comm": "a.b c-d", "common_pid": 17, "common_flags": None, "a": 1},
        {"_ts": 1000, "cpu": 2, "common_comm": "<idle>", "common_pid": 0, "common_flags": "d.h2", "a": 2},
    ]


def test_process_is_null_where_the_kernel_did_not_know_it() -> None:
    assert [(r["_ts"], r["common_comm"], r["common_tgid"]) for r in rows(read(TGID + NO_TGID))] == [
        (0, "adbd", 315),
        (877, "<...>", None),
    ]


def test_all_tables_of_a_trace_have_the_same_first_columns() -> None:
    other = NO_TGID.replace("my_event", "other")
    trace = read(TGID + other)
    assert str(trace.tables["raw_events.other"].data.schema.field("common_tgid").type) == "int64"
    assert trace.tables["raw_events.other"].schema.names[:6] == trace.tables["raw_events.my_event"].schema.names[:6]


def test_event_tables_map_their_columns_to_events() -> None:
    table = read(TGID).tables["raw_events.my_event"]
    assert table.schema.kind is Kind.EVENT
    assert table.event is not None
    assert (table.event.name, table.event.pid, table.event.tid, table.event.args) == (
        "my_event",
        "common_tgid",
        "common_pid",
        ("a",),
    )
    without = read(OLD).tables["raw_events.my_event"].event
    assert without is not None
    assert without.pid is None


@pytest.mark.parametrize(
    "task", ["x-1 [000] y-2", "[kworker]-7", "a: b-3", "ünïcode-4", "x (1)-5", "-6", "<7952>-7952", "1.5: z-8"]
)
def test_a_task_may_be_named_anything(task: str) -> None:
    comm, _, pid = task.rpartition("-")
    (row,) = rows(read(f"  {task}  [011] 1.5: my_event: a=1\n"))
    assert (row["common_comm"], row["common_pid"], row["cpu"]) == (comm, int(pid), 11)


@pytest.mark.parametrize(
    ("first", "second", "difference"),
    [
        ("1.000001", "1.000003", 2000),
        ("1.000000001", "1.000000003", 2),
        ("1647120695058", "1647120698874", 3816),
        ("4611686016.000001", "4611686017.427387", 1427386000),
        ("0.1", "0.25", 150_000_000),
        ("1.0000000011", "1.0000000029", 1),
    ],
)
def test_times_are_exact(first: str, second: str, difference: int) -> None:
    trace = read(f" t-1 [000]{first}: my_event: a=1\n t-1 [000] {second}: my_event: a=2\n")
    assert [r["_ts"] for r in rows(trace)] == [0, difference]
    assert trace.last_ts == difference


def test_start_is_kept() -> None:
    assert read("# tracer: nop\n" + OLD).properties == {"start_ns": "50260647576000", "tracer": "nop"}


def test_times_without_a_decimal_point_give_a_warning() -> None:
    trace = read(" t-1 [000] 5: my_event: a=1\n t-1 [000] 7: my_event: a=1\n")
    assert [(d.reason, d.count) for d in trace.diagnostics] == [("time without a decimal point, taken as ns", 2)]


def test_rows_are_sorted_by_time_and_keep_their_order_at_equal_times() -> None:
    lines = [(5, 1), (3, 2), (5, 3), (4, 4), (3, 5)]
    trace = read("".join(f" t-1 [000] 1.00000{us}: my_event: a={a}\n" for us, a in lines))
    assert [(r["_ts"], r["a"]) for r in rows(trace)] == [(0, 2), (0, 5), (1000, 4), (2000, 1), (2000, 3)]


def test_files_of_one_trace_share_the_time() -> None:
    trace = read(
        " t-1 [000] 2.000000: my_event: a=1\n t-1 [000] 4.000000: other: b=1\n",
        " t-1 [001] 1.000000: my_event: a=x\n t-1 [001] 3.000000: my_event: a=y\n",
    )
    assert [(r["_ts"], r["a"]) for r in rows(trace)] == [(0, "x"), (1_000_000_000, "1"), (2_000_000_000, "y")]
    assert trace.last_ts == 3_000_000_000


def test_event_names_as_printed_are_counted() -> None:
    mark = " t-1 [000] 1.0: {}: B|1|x\n"
    trace = read(OLD + mark.format("print") + mark.format("tracing_mark_write") * 2 + mark.format("0"))
    assert event_counts(trace) == [
        ("my_event", "raw_events.my_event", 1),
        ("print", "raw_events.print|B", 1),
        ("tracing_mark_write", "raw_events.print|B", 2),
        ("0", "raw_events.print|B", 1),
    ]


def test_a_long_trace_is_one_trace_whatever_its_blocks() -> None:
    count = 60_000
    lines = [
        f"  some task-{i % 90}  [00{i % 4}] d..2. {i // 1000}.{i % 1000:06}: my_event: n={i}\n" for i in range(count)
    ]
    lines[50_000] = lines[50_000].replace("n=50000", "n=late")
    trace = read("".join(lines))
    found = rows(trace)
    assert [r["n"] for r in found] == [str(i) if i != 50_000 else "late" for i in range(count)]
    assert trace.last_ts == 59 * 1_000_000_000 + 999_000
