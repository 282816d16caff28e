"""Files of trace-cmd in all their forms, written here, give the events that were put into them."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.generate_trace_dat import EVENTS, Event, Ring, Trace, generate, head
from dctv.contracts.reader import Head
from dctv.readers.trace_dat import READER
from dctv.session import Session
from tests.readers.trace_dat.trace_dat_writing import MARK_IP, loaded, mark, rows, small, switch, told

SWITCHES = [
    (0, 0, "one", 10, "d..21", "S", 1, "two", 20),
    (500, 1, "<idle>", 0, "d..21", "R", 0, "three", 30),
    (1000 + (1 << 28), 0, "two", 20, "d..21", "R+", 256, "one", 10),
]


@pytest.mark.parametrize("long", [8, 4])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("form", [(6, "none"), (7, "none"), (7, "zlib"), (7, "zstd")])
def test_events_are_the_same_in_every_form(form: tuple[int, str], order: str, long: int, tmp_path: Path) -> None:
    trace = loaded(small(*form, order, long), tmp_path)
    assert trace.diagnostics == []
    columns = ("_ts", "cpu", "common_comm", "common_pid", "common_flags", "prev_state", "prev_state_number")
    found = [
        (*(row[name] for name in columns), row["next_comm"], row["next_pid"])
        for row in rows(trace, "raw_events.sched_switch")
    ]
    assert found == SWITCHES
    (begin,) = rows(trace, "raw_events.print|B")
    assert (begin["_ts"], begin["pid"], begin["name"], begin["line"]) == (1000, 20, "work", 3)
    (text,) = rows(trace, "raw_events.print")
    assert (text["_ts"], text["ip"], text["text"], text["common_comm"]) == (
        1500,
        "tracing_mark_write",
        "hello",
        "three",
    )
    assert trace.properties["start_ns"] == "1000"
    assert (trace.properties["version"], trace.properties["clock"]) == (str(form[0]), "monotonic")


def test_it_is_recognized_by_its_content(tmp_path: Path) -> None:
    data = small().written()
    assert READER.sniff(Head(tmp_path, data, data))
    assert not READER.sniff(Head(tmp_path, data[1:], data[1:]))
    assert not READER.sniff(Head(tmp_path, b"", b""))


@pytest.mark.parametrize("form", [(6, "none"), (7, "none"), (7, "zstd")])
def test_buffers_of_instances_are_a_column(form: tuple[int, str], tmp_path: Path) -> None:
    trace = small(*form)
    ring = Ring()
    ring.put(1700, switch("<", (40, "four", 2), (41, "five")))
    trace.buffers["extra"] = [ring, Ring()]
    found = loaded(trace, tmp_path)
    assert found.diagnostics == []
    switches = rows(found, "raw_events.sched_switch")
    assert [row["buffer"] for row in switches] == [None, None, "extra", None]
    assert [row["line"] for row in switches] == [1, 2, 3, 6]
    assert [row["buffer"] for row in rows(found, "buffers")] == ["", "extra"]


def test_a_file_of_many_pages_and_chunks(tmp_path: Path) -> None:
    counts = generate(tmp_path / "trace.dat", 30_000, packing="zstd")
    with Session(index=False) as session:
        session.mount(str(tmp_path / "trace.dat"), "t")
        found = session.sql("SELECT name, COUNT(*) FROM t.events GROUP BY name").fetchall()
        assert dict(found) == counts
        asked = session.sql("SELECT COUNT(*) FROM t.events WHERE name LIKE 'print|%'")
        assert asked.fetchall() == [(counts["print|B"] + counts["print|E"],)]


def test_events_of_equal_times_are_in_the_order_of_cpus(tmp_path: Path) -> None:
    trace = small()
    first, second = Ring(), Ring()
    for pid in (1, 2):
        second.put(1000, mark("<", pid, f"B|{pid}|second"))
        first.put(1000, mark("<", pid, f"B|{pid}|first"))
    trace.buffers[""] = [first, second]
    found = rows(loaded(trace, tmp_path), "raw_events.print|B")
    assert [(row["line"], row["pid"], row["name"]) for row in found] == [
        (1, 1, "first"),
        (2, 2, "first"),
        (3, 1, "second"),
        (4, 2, "second"),
    ]


def entry(kind: int, delta: int, *words: int) -> bytes:
    return struct.pack("<I", delta << 5 | kind) + b"".join(struct.pack("<I", word) for word in words)


def test_entries_that_are_no_events(tmp_path: Path) -> None:
    ring = Ring()
    ring.put(1000, mark("<", 1, "B|1|a"))
    ring.raw(entry(29, 5, 12, 0xDEAD, 0xBEEF))  # discarded: 12 bytes behind its first word
    ring.raw(entry(30, 7, 1))  # 7 + (1 << 27) later
    ring.raw(entry(31, 100, 2))  # absolute: 100 + (2 << 27)
    record = mark("<", 1, "E|1")
    record += b"\0" * (-len(record) % 4)
    ring.raw(entry(0, 11, len(record) + 4) + record)  # with its length in a word of its own
    ring.raw(entry(29, 0))  # the rest of the page
    ring.raw(b"\xff" * 16)
    trace = small()
    trace.buffers[""] = [ring]
    found = loaded(trace, tmp_path)
    assert found.diagnostics == []
    (end,) = rows(found, "raw_events.print|E")
    assert end["_ts"] + 1000 == 100 + (2 << 27) + 11


def test_a_discarded_entry_takes_its_time(tmp_path: Path) -> None:
    ring = Ring()
    ring.put(1000, mark("<", 1, "B|1|a"))
    ring.raw(entry(29, 5, 8, 0))
    ring.put(1010, mark("<", 1, "E|1"))
    trace = small()
    trace.buffers[""] = [ring]
    (end,) = rows(loaded(trace, tmp_path), "raw_events.print|E")
    assert end["_ts"] == 15


def test_lost_events_are_reported(tmp_path: Path) -> None:
    trace = small()
    ring = Ring()
    for flags, lost in ((1 << 31 | 1 << 30, 77), (1 << 31, None)):
        ring.put(1000, mark("<", 1, "B|1|a"))
        ring.close(flags, lost)
    trace.buffers[""] = [ring]
    stats = b"CPU: 0\nentries: 0\noverrun: 5\ncommit overrun: 1\nbytes: 0\ndropped events: 2\nread events: 9\n\0"
    trace.options.append((2, stats))
    found = loaded(trace, tmp_path)
    assert told(found) == {
        "events lost by the kernel": 77,
        "events lost by the kernel, which does not say how many": 1,
        "events overwritten in the kernel's buffer": 5,
        "events that came too late for the kernel's buffer": 1,
        "events dropped by the kernel": 2,
    }
    (cpu,) = rows(found, "cpu_stats")
    assert (cpu["cpu"], cpu["overrun"], cpu["read_events"]) == (0, 5, 9)


def test_counts_of_instances_have_their_buffer(tmp_path: Path) -> None:
    trace = small()
    stats = b"CPU: %d\nentries: 0\noverrun: %d\n\0"
    trace.options += [(2, stats % (0, 1)), (2, b"\nBuffer: other one\n\n\0"), (2, stats % (0, 2)), (2, stats % (1, 3))]
    found = rows(loaded(trace, tmp_path), "cpu_stats")
    assert [(row["buffer"], row["cpu"], row["overrun"]) for row in found] == [
        (None, 0, 1),
        ("other one", 0, 2),
        ("other one", 1, 3),
    ]


@pytest.mark.parametrize(
    ("named", "clock", "notes"),
    [
        ("boot", "boottime", {}),
        ("uptime", "uptime", {"clock does not count ns, and its counts are taken as ns": 1}),
    ],
)
def test_the_clock_is_that_of_the_buffers_recorded(
    named: str, clock: str, notes: dict[str, int], tmp_path: Path
) -> None:
    """With the buffers themselves trace-cmd stores the clock of the main one, even if that records nothing."""
    trace = small()
    trace.clock = "local"
    trace.options.append((4, f"local global [{named}] tai\0".encode()))
    trace.buffers = {"": [], "other": trace.buffers[""]}
    found = loaded(trace, tmp_path)
    assert (found.properties["clock"], found.properties["trace_clock"]) == (clock, named)
    assert told(found) == notes


def test_options_move_and_convert_times(tmp_path: Path) -> None:
    trace = small()
    trace.options += [(7, b"1000\0"), (1, b"0x10\0")]
    found = loaded(trace, tmp_path)
    assert found.properties["start_ns"] == "2000"
    assert found.properties["start_unix_ns"] == "18000"
    trace = small()
    trace.clock = "x86-tsc"
    assert told(loaded(trace, tmp_path)) == {"clock does not count ns, and its counts are taken as ns": 1}
    trace.options.append((14, struct.pack("<IIQ", 3 << 10, 10, 0)))
    found = loaded(trace, tmp_path)
    assert found.properties["start_ns"] == "3000"
    assert found.diagnostics == []


def test_clocks_of_a_host_are_interpolated(tmp_path: Path) -> None:
    trace = small()
    samples = struct.pack("<QQ", 0, 2000) + struct.pack("<qq", 100, 300) + struct.pack("<QQ", 1, 1)
    shift = struct.pack("<QII", 0xABC, 1, 1) + struct.pack("<I", 2) + samples + struct.pack("<QQ", 0, 0)
    trace.options += [(12, shift), (11, struct.pack("<Q", 0x123)), (13, b"guest\0")]
    found = loaded(trace, tmp_path)
    assert found.properties["start_ns"] == "1200"
    assert [row["_ts"] for row in rows(found, "raw_events.sched_switch")][:2] == [0, 300]
    assert found.properties["peer_trace_id"] == "0000000000000abc"
    assert found.properties["trace_id"] == "0000000000000123"
    assert found.properties["guests"] == "guest"


def test_maps_and_names_are_tables(tmp_path: Path) -> None:
    trace = small()
    trace.options.append((10, b"10 1 one\n7f00 7f80 /lib/a b.so\n20 0 two\n\0"))
    found = loaded(trace, tmp_path)
    assert rows(found, "process_maps") == [
        {"pid": 10, "process": "one", "begin": 0x7F00, "end": 0x7F80, "path": "/lib/a b.so"}
    ]
    assert rows(found, "cmdlines") == [{"pid": 10, "comm": "one"}, {"pid": 20, "comm": "two"}]


def test_an_event_without_a_format_is_counted(tmp_path: Path) -> None:
    trace = small()
    trace.buffers[""][0].put(1 << 30, head("<", 999, 1) + b"\0" * 8)
    found = loaded(trace, tmp_path)
    assert [(one.reason, one.count, one.example, one.incomplete) for one in found.diagnostics] == [
        ("event whose format is not in the file", 1, "event 999", True)
    ]


def test_unknown_options_are_counted(tmp_path: Path) -> None:
    trace = small()
    trace.options += [(700, b"x"), (700, b"y"), (8, b"1")]
    assert told(loaded(trace, tmp_path)) == {"option is unknown": 2, "option is too short": 1}


def test_the_names_of_threads_are_learnt_from_the_scheduler(tmp_path: Path) -> None:
    trace = small()
    trace.comms = {}
    switches = rows(loaded(trace, tmp_path), "raw_events.sched_switch")
    assert [row["common_comm"] for row in switches] == ["<...>", "<idle>", "two"]


def test_a_name_of_an_unknown_packing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.dat"
    path.write_bytes(small().written().replace(b"none\0\0", b"lzma\0\0", 1))
    with Session(index=False) as session, pytest.raises(Exception, match="packed by `lzma`, expected zlib or zstd"):
        session.mount(str(path), "t")


def own(event: Event) -> Trace:
    trace = small()
    return replace(trace, events=(*EVENTS, event), buffers={"": [Ring()]})


def test_functions_and_stacks_have_names(tmp_path: Path) -> None:
    calls = Event(
        10,
        "ftrace",
        "funcgraph_exit",
        (
            ("unsigned long func", 8, 0),
            ("unsigned int depth", 4, 0),
            ("unsigned int overrun", 4, 0),
            ("unsigned long long calltime", 8, 0),
            ("unsigned long long rettime", 8, 0),
        ),
        '"<-- %ps (%u)", (void *)REC->func, REC->depth',
    )
    stack = Event(4, "ftrace", "kernel_stack", (("int size", 4, 1), ("unsigned long caller[8]", 64, 0)), '"%ps"')
    trace = replace(own(calls), events=(*EVENTS, calls, stack))
    ring = trace.buffers[""][0]
    symbol = 0xFFFF_FFFF_8100_0200
    ring.put(1000, head("<", 10, 7) + struct.pack("<QIIQQ", symbol, 2, 0, 900, 1000))
    callers = struct.pack("<4Q", symbol + 8, MARK_IP, 0x10, 0xFFFF_FFFF_FFFF_FFFF)
    ring.put(1001, head("<", 4, 7) + struct.pack("<i", 3) + callers)
    found = loaded(trace, tmp_path)
    (call,) = rows(found, "raw_events.funcgraph_exit")
    assert (call["func"], call["depth"], call["rettime"] - call["calltime"]) == ("schedule", 2, 100)
    (stacked,) = rows(found, "raw_events.kernel_stack")
    assert stacked["stack"] == "0x10;tracing_mark_write;schedule"


def test_entries_with_their_return_addresses_are_entries(tmp_path: Path) -> None:
    fields = (("unsigned long func", 8, 0), ("unsigned int depth", 4, 0), ("unsigned long retaddr", 8, 0))
    entry = Event(17, "ftrace", "fgraph_retaddr_entry", fields, '"--> %ps (%u) <- %ps"')
    trace = own(entry)
    payload = struct.pack("<QI4xQ", 0xFFFF_FFFF_8100_0200, 1, MARK_IP)
    trace.buffers[""][0].put(1000, head("<", 17, 7) + payload)
    (found,) = rows(loaded(trace, tmp_path), "raw_events.funcgraph_entry")
    assert (found["func"], found["depth"], found["retaddr"]) == ("schedule", 1, "tracing_mark_write")


def test_a_mark_of_the_wall_clock_tells_when_the_trace_began(tmp_path: Path) -> None:
    trace = small()
    ring = Ring()
    ring.put(1000, mark("<", 1, "B|1|first"))
    ring.put(2_001_000, mark("<", 1, "trace_event_clock_sync: realtime_ts=1700000000002"))
    ring.put(3_001_000, mark("<", 1, "trace_event_clock_sync: realtime_ts=1700000009000"))
    trace.buffers[""] = [ring]
    assert loaded(trace, tmp_path).properties["start_unix_ns"] == "1700000000000000000"
