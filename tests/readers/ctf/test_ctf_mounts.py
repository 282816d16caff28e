"""Whole CTF traces in a session: folders of several traces, names of events and threads, indexes, slices."""

from __future__ import annotations

import struct as packing
from pathlib import Path

import pytest

from benchmarks.generate_ctf import generate
from dctv.contracts.reader import Head
from dctv.errors import TraceError
from dctv.readers.ctf import READER
from dctv.session import Session
from tests.readers.ctf.ctf_writing import TSDL, load, payload, rows, tsdl, uint, write

CLOCK = (
    "clock {{ name = k; offset = {offset}; }}; stream {{ event.header := struct {{ u64 timestamp; u8 id; }}; {more} }};"
)


def timed(*events: tuple[str, str], offset: int = 0, env: str = "", more: str = "") -> str:
    """Return metadata of a trace whose events have times and numbers: name and fields of each."""
    text = TSDL % "le" + CLOCK.format(offset=offset, more=more) + (f"env {{ {env} }};" if env else "")
    for number, (name, fields) in enumerate(events):
        text += f'event {{ name = "{name}"; id = {number}; fields := struct {{ {fields} }}; }};'
    return text


def event(time: int, number: int, *values: int) -> bytes:
    return packing.pack("<QB", time, number) + bytes(values)


def test_traces_of_a_session_are_one_in_order_of_time(tmp_path: Path) -> None:
    session = tmp_path / "session"
    write(session / "kernel", timed(("a", "u8 x;"), offset=100), event(5, 0, 1), event(9, 0, 2))
    user = write(session / "ust" / "uid" / "0" / "64-bit", timed(("a", "u8 x; u8 y;"), offset=90), event(16, 0, 3, 4))
    (user / "index").mkdir()
    (user / "index" / "stream_0.idx").write_bytes(b"no stream")
    with Session() as opened:
        opened.mount(str(session), "t")
        found = opened.sql("SELECT _ts, line, trace, x, y FROM t.raw_events.a").fetchall()
        properties = dict(opened.sql("SELECT key, value FROM t.properties").fetchall())
        packets = opened.sql("SELECT COUNT(*) FROM t.packets").fetchall()
    assert found == [
        (0, 0, "kernel", 1, None),
        (1, 1, "ust/uid/0/64-bit", 3, 4),
        (4, 2, "kernel", 2, None),
    ]
    assert {key: properties[key] for key in ("clock", "start_ns", "start_unix_ns", "traces")} == {
        "clock": "realtime", "start_ns": "105", "start_unix_ns": "105", "traces": "2",
    }  # fmt: skip
    assert packets == [(3,)]


def test_a_folder_of_other_things_is_not_claimed(tmp_path: Path) -> None:
    write(tmp_path / "one", tsdl("u8 x;"), b"\1")
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text("other")
    assert READER.folder is not None
    assert READER.folder(tmp_path) is None
    assert READER.folder(tmp_path / "none") is None
    (tmp_path / "named").mkdir()
    (tmp_path / "named" / "metadata").write_text("metadata of something else")
    assert READER.folder(tmp_path / "named") is None


def test_a_stream_can_be_mounted_alone_but_metadata_cannot(tmp_path: Path) -> None:
    metadata = (TSDL % "le").replace("byte_order = le;", "byte_order = le; packet.header := struct { u32 magic; };")
    metadata += "event { name = e; fields := struct { u8 x; }; };"
    folder = write(tmp_path / "t", metadata, *(packing.pack("<IB", 0xC1FC1FC1, x) for x in (1, 2)))
    with Session() as session:
        session.mount(str(folder / "stream_1"), "t")
        assert session.sql("SELECT x FROM t.raw_events.e").fetchall() == [(2,)]
        with pytest.raises(TraceError) as error:
            session.mount(str(folder / "metadata"), "u")
    assert error.value.message == f"`{folder / 'metadata'}` is only a part of a trace"
    assert error.value.hint == f"mount the folder `{folder}`"


def test_a_trace_without_streams_is_empty(tmp_path: Path) -> None:
    with Session() as session:
        session.mount(str(write(tmp_path / "t", tsdl("u8 x;"))), "t")
        assert session.sql("SELECT * FROM t.events").fetchall() == []


HEADS = (
    (b"/* CTF 1.8 */", True),
    (b"\x75\xd1\x1d\x57", True),
    (b"\x57\x1d\xd1\x75", True),
    (b'\x1e{"type"', True),
    (b"\x1e\n {", True),
    (b"/* CTF", False),
    (b"", False),
    (b"\xc1\x1f\xfc\xc1", True),
    (b"\xc1\xfc\x1f\xc1", True),
)


def test_formats_are_recognized_by_content() -> None:
    for raw, known in HEADS:
        assert READER.sniff(Head(Path("t/metadata"), raw, raw)) is known, raw
        assert READER.sniff(Head(Path("t/other"), raw, raw)) is (known and raw[:1] == b"\xc1"), raw


SWITCH = "ch _prev_comm[4]; s32 _prev_tid; ch _next_comm[4]; s32 _next_tid;"


def switch(time: int, before: tuple[bytes, int], after: tuple[bytes, int]) -> bytes:
    return event(time, 0) + packing.pack("<4si4si", *before, *after)


def test_kernel_threads_come_from_switches(tmp_path: Path) -> None:
    metadata = timed(
        ("sched_switch", SWITCH), ("irq_handler_entry", "u8 irq;"),
        env='domain = "kernel";', more="packet.context := struct { u8 cpu_id; };",
    )  # fmt: skip
    first = b"\0" + event(1, 1, 7) + switch(2, (b"a", 1), (b"b", 2)) + event(4, 1, 8)
    second = b"\1" + event(3, 1, 9) + switch(5, (b"c", 3), (b"a", 1)) + event(6, 1, 10)
    trace = load(write(tmp_path / "t", metadata, first, second))
    assert rows(trace, "irq_handler_entry") == [
        {"cpu": 0, "common_comm": None, "common_pid": None, "irq": 7},
        {"cpu": 1, "common_comm": None, "common_pid": None, "irq": 9},
        {"cpu": 0, "common_comm": "b", "common_pid": 2, "irq": 8},
        {"cpu": 1, "common_comm": "a", "common_pid": 1, "irq": 10},
    ]
    threads = [
        (row["common_comm"], row["common_pid"], row["prev_tid"], row["next_tid"]) for row in rows(trace, "sched_switch")
    ]
    assert threads == [("a", 1, 1, 2), ("c", 3, 3, 1)]


def test_events_of_perf_are_called_as_the_kernel_does(tmp_path: Path) -> None:
    fields = "s32 perf_tid; s32 perf_pid; u32 perf_cpu; u32 common_flags; s32 common_pid; s32 pid;"
    metadata = timed(("sched:sched_waking", fields), env='tracer_name = "perf";')
    data = event(1, 0) + packing.pack("<iiIIii", 12, 11, 3, 1, 12, 99)
    trace = load(write(tmp_path / "t", metadata, data))
    assert rows(trace, "sched_waking") == [
        {"cpu": 3, "common_pid": 12, "common_tgid": 11, "perf_tid": 12, "perf_pid": 11, "perf_cpu": 3,
         "common_flags": 1, "pid": 99}
    ]  # fmt: skip


def test_the_environment_names_the_only_process(tmp_path: Path) -> None:
    metadata = timed(("e", "u8 x;"), env='vpid = 42; procname = "one";')
    trace = load(write(tmp_path / "t", metadata, event(1, 0, 1)))
    assert rows(trace) == [{"common_comm": "one", "common_tgid": 42, "x": 1}]


def test_unknown_packet_contexts_are_kept(tmp_path: Path) -> None:
    metadata = TSDL % "le" + "stream { packet.context := struct { u8 cpu_id; u8 colour; }; };"
    metadata += "event { name = e; fields := struct { u8 x; }; };"
    trace = load(write(tmp_path / "t", metadata, b"\1\2\3"))
    (packet,) = trace.tables["packets"].data.to_pylist()
    assert (packet["cpu"], packet["context"]) == (1, '{"cpu_id":1,"colour":2}')


def test_threads_and_processes_have_the_names_in_contexts(tmp_path: Path) -> None:
    contexts = "event.context := struct { s32 _vpid; s32 _vtid; ch _procname[4]; };"
    told = ((7, b"old"), (8, b"two"), (7, b"new"))
    data = (event(time, 0) + packing.pack("<ii4s", 7, tid, name) for time, (tid, name) in enumerate(told))
    first = write(tmp_path / "a", timed(("app:e", ""), more=contexts), b"".join(data))
    second = write(tmp_path / "b", timed(("app:e", ""), env='vpid = 42; procname = "one";'), event(1, 0))
    with Session() as session:
        session.mount(str(first), "a")
        session.mount(str(second), "b")
        threads = session.sql("SELECT tid, pid, name, process FROM a.threads").fetchall()
        processes = session.sql("SELECT pid, name, threads FROM a.processes").fetchall()
        alone = session.sql("SELECT pid, name, threads FROM b.processes").fetchall()
        assert session.sql("SELECT tid FROM b.threads").fetchall() == []
    assert threads == [(7, 7, "new", "new"), (8, 7, "two", "new")]
    assert processes == [(7, "new", 2)]
    assert alone == [(42, "one", 0)]


def test_functions_are_slices(tmp_path: Path) -> None:
    metadata = timed(
        ("lttng_ust_cyg_profile:func_entry", "u64 _addr;"), ("lttng_ust_cyg_profile:func_exit", "u64 _addr;"),
        more="event.context := struct { s32 _vtid; ch _procname[4]; };",
    )  # fmt: skip

    def call(time: int, number: int, address: int) -> bytes:
        return event(time, number) + packing.pack("<i4sQ", 7, b"app", address)

    data = call(0, 0, 0x40AB) + call(3, 0, 0x40CD) + call(5, 1, 0x40CD) + call(9, 1, 0x40AB)
    with Session() as session:
        session.mount(str(write(tmp_path / "t", metadata, data)), "t")
        found = session.sql("SELECT _ts, _duration, depth, tid, thread, name FROM t.slices").fetchall()
    assert found == [(0, 9, 0, 7, "app", "0x40ab"), (3, 2, 1, 7, "app", "0x40cd")]


def test_regions_of_score_p_are_slices(tmp_path: Path) -> None:
    metadata = timed(
        ("GlobalDef_String", "u8 self; string stringValue;"), ("GlobalDef_Region", "u8 self; u8 name;"),
        ("GlobalDef_Location", "u8 self; u8 name; u8 locationGroup;"), ("GlobalDef_LocationGroup", "u8 self; u8 name;"),
        ("Event_Enter", "u8 locationID; u8 region;"), ("Event_Leave", "u8 locationID; u8 region;"),
    )  # fmt: skip
    data = event(0, 0, 0) + b"main\0" + event(0, 0, 1) + b"rank\0" + event(0, 0, 2) + b"master\0"
    data += event(0, 1, 9, 0) + event(0, 2, 4, 2, 5) + event(0, 3, 5, 1) + event(10, 4, 4, 9) + event(30, 5, 4, 9)
    with Session() as session:
        session.mount(str(write(tmp_path / "t", metadata, data)), "t")
        found = session.sql("SELECT _ts, _duration, tid, pid, thread, process, name FROM t.slices").fetchall()
    assert found == [(10, 20, 4, 5, "master", "rank", "main")]


def test_an_index_gives_the_same_rows(tmp_path: Path) -> None:
    generate(tmp_path / "t", 3000)
    query = "SELECT name, COUNT(*), MIN(_ts), MAX(_ts), SUM(pid), SUM(tid) FROM t.events GROUP BY name ORDER BY name"
    detail = "SELECT * FROM t.raw_events.sched_switch"
    found = []
    for index in (False, True):
        with Session(index=index, index_dir=tmp_path / "index") as session:
            session.mount(str(tmp_path / "t"), "t")
            found.append((session.sql(query).fetchall(), session.sql(detail).fetchall()))
    assert found[0] == found[1]
    assert sum(row[1] for row in found[0][0]) == 3000


def test_the_scheduler_of_lttng_has_the_vocabulary_of_all_formats(tmp_path: Path) -> None:
    generate(tmp_path / "t", 3000)
    with Session() as session:
        session.mount(str(tmp_path / "t"), "t")
        slices = session.sql("SELECT COUNT(*) FROM t.scheduler.timeslices_p_cpu").fetchall()
        switches = session.sql("SELECT COUNT(*) FROM t.raw_events.sched_switch").fetchall()
        names = session.sql("SELECT COUNT(*) FROM t.threads WHERE name = 'sshd'").fetchall()
    assert slices[0][0] > switches[0][0] * 0.9
    assert names[0][0] > 10


def test_many_values_in_ctf2_arrays_are_kept(tmp_path: Path) -> None:
    array = {"type": "dynamic-length-array", "length-field-location": {"path": ["n"]}, "element-field-class": uint(8)}
    data = packing.pack("<I", 100_000) + bytes(range(256)) * 390 + bytes(160)
    trace = load(write(tmp_path / "t", payload(("n", uint(32)), ("a", array)), data))
    (row,) = rows(trace)
    assert row["a"] == list(data[4:])
