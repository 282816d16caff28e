"""Fields of tracepoints by their format files, and what their print formats add."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.generate_trace_dat import EVENTS, Event, Ring, head
from dctv.contracts.reader import LoadedTrace
from tests.readers.trace_dat.trace_dat_writing import MARK_IP, loaded, rows, small, told

FLAGS = '{ 1, "A" }, { (unsigned long)((( gfp_t)((((1UL))) << (1)))), "B" }, { 4UL | 8, "CD" }, { 0, ((void *)0) }'


def decoded(
    folder: Path, event: Event, *payloads: bytes, order: str = "<", printks: bytes = b"", system: str | None = None
) -> LoadedTrace:
    event = event if system is None else replace(event, system=system)
    ring = Ring(order)
    for number, payload in enumerate(payloads):
        ring.put(1000 + number, head(order, event.id, 7) + payload)
    trace = replace(small(order=order), events=(*EVENTS, event), printks=printks, buffers={"": [ring]})
    return loaded(trace, folder)


def values(folder: Path, event: Event, *payloads: bytes, order: str = "<") -> list[dict[str, Any]]:
    """The columns of the event's own."""
    trace = decoded(folder, event, *payloads, order=order)
    assert trace.diagnostics == []
    found = rows(trace, f"raw_events.{event.name}")
    fixed = {"_ts", "cpu", "common_comm", "common_pid", "common_flags", "line"}
    return [{name: value for name, value in row.items() if name not in fixed} for row in found]


def event(fields: list[tuple[str, int, int]], printed: str = '""', name: str = "own") -> Event:
    return Event(900, "test", name, tuple(fields), printed)


@pytest.mark.parametrize("order", ["<", ">"])
def test_numbers_of_every_size_and_sign(order: str, tmp_path: Path) -> None:
    fields = [("s8 a", 1, 1), ("u8 b", 1, 0), ("s16 c", 2, 1), ("u16 d", 2, 0), ("s32 e", 4, 1), ("u32 f", 4, 0)]
    fields += [("s64 g", 8, 1), ("u64 h", 8, 0), ("void * p", 8, 0)]
    numbers = (-1, 255, -2, 65534, -3, 4294967293, -4, 5, 1 << 63)
    payload = struct.pack(order + "bBhH2xiIqQQ", *numbers)
    (found,) = values(tmp_path, event(fields), payload, order=order)
    assert tuple(found.values()) == numbers


def test_a_number_beyond_the_sign_has_a_column_of_its_own(tmp_path: Path) -> None:
    found = values(tmp_path, event([("u64 size", 8, 0)]), struct.pack("<Q", 3), struct.pack("<Q", (1 << 64) - 1))
    assert found == [{"size": 3, "size_uint": None}, {"size": None, "size_uint": (1 << 64) - 1}]


def test_arrays_and_texts_in_the_record_and_elsewhere(tmp_path: Path) -> None:
    fields = [
        ("char comm[8]", 8, 0),
        ("unsigned char mac[6]", 6, 0),
        ("u16 pair[2]", 4, 0),
        ("__data_loc char[] name", 4, 0),
        ("__rel_loc char[] near", 4, 0),
        ("__data_loc u32[] list", 4, 0),
        ("__data_loc cpumask_t cpus", 4, 0),
        ("__data_loc u8[] bytes", 4, 0),
    ]
    at = 8 + 8 + 6 + 4 + 2  # the common fields, then those before; numbers begin at multiples of 4
    dynamic = at + 5 * 4
    parts = [b"named\0\0\0", b"by\0\0", struct.pack("<3I", 1, 2, 3), struct.pack("<Q", 0b1000_1111), b"\x01\xab"]
    places = [dynamic + sum(map(len, parts[:n])) for n in range(5)]
    locations = [len(part) << 16 | place for part, place in zip(parts, places, strict=True)]
    locations[1] -= at + 2 * 4
    payload = b"one\0xxxx" + bytes(range(6)) + struct.pack("<HH", 7, 8) + b"\0\0" + struct.pack("<5I", *locations)
    (found,) = values(tmp_path, event(fields), payload + b"".join(parts))
    assert found == {
        "comm": "one",
        "mac": "000102030405",
        "pair": "[7,8]",
        "name": "named",
        "near": "by",
        "list": "[1,2,3]",
        "cpus": "0-3,7",
        "bytes": "01ab",
    }


def test_a_field_outside_of_the_record_is_null_and_counted(tmp_path: Path) -> None:
    fields = [("__data_loc char[] name", 4, 0), ("int n", 4, 1)]
    trace = decoded(tmp_path, event(fields), struct.pack("<Ii", 500 << 16 | 16, 5), struct.pack("<I", 0))
    assert [(row["name"], row["n"]) for row in rows(trace, "raw_events.own")] == [(None, 5), ("", None)]
    assert told(trace) == {"event with a value that cannot be read, which is NULL": 2}


@pytest.mark.parametrize(
    ("printed", "value", "expected"),
    [
        ('"v=%s", __print_symbolic(REC->v, { 0, "zero" }, { 1 << 2, "four" })', 4, "four"),
        ('"v=%s", __print_symbolic(REC->v, { 0, "zero" })', 9, "0x9"),
        (f'"v=%s", __print_flags(REC->v, "|", {FLAGS})', 1 | 2 | 4 | 8 | 64, "A|B|CD|0x40"),
        (f'"v=%s", (REC->v) ? __print_flags(REC->v, "", {FLAGS}) : "none"', 0, "none"),
        ('"v=%s%s ==> w=%d", REC->v & 2 ? "yes" : "no", REC->v >= 2 ? "+" : "", 1', 3, "yes+"),
        ('"v=%s", (REC->v && !(REC->v == 2)) ? "true" : "false"', 2, "false"),
        ('"v=%d,%d", ((unsigned int) ((REC->v) >> 4)), ((unsigned int) ((REC->v) & ((1U << 4) - 1)))', 0x35, "3,5"),
        ('"v=%s " "w=%d", __print_symbolic(REC->v, { HRTIMER_MODE_ABS_PINNED, "ABS|PINNED" }), 5', 2, "ABS|PINNED"),
        ('"v=%pS", (void *)REC->v', MARK_IP, "tracing_mark_write+0x20/0x100"),
        ('"v=%ps", (void *)REC->v', MARK_IP, "tracing_mark_write"),
        ('"work struct %p: function %ps", REC->work, REC->v', MARK_IP, "tracing_mark_write"),
        ('"v=%#06x-%03d|%-3uX", REC->v, REC->v, REC->v', 9, "0x0009-009|9  X"),
    ],
)
def test_fields_printed_as_text_are_text(printed: str, value: int, expected: str, tmp_path: Path) -> None:
    (found,) = values(tmp_path, event([("unsigned long v", 8, 0)], printed), struct.pack("<Q", value))
    assert found == {"v": expected, "v_number": value} | ({"w": found["w"]} if "w" in found else {})


MAPPED = bytes(10) + b"\xff\xff\x7f\0\0\x01"


@pytest.mark.parametrize(
    ("conversion", "value", "expected"),
    [
        ("%pI4", b"\x7f\0\0\x01", "127.0.0.1"),
        ("%pI4l", b"\x7f\0\0\x01", "1.0.0.127"),
        ("%pI4h", b"\x7f\0\0\x01", "1.0.0.127"),
        ("%pi4", b"\x7f\0\0\x01", "127.000.000.001"),
        ("%pI6c", MAPPED, "::ffff:127.0.0.1"),
        ("%pI6c", bytes.fromhex("20010db8000000000001000000000001"), "2001:db8::1:0:0:1"),
        ("%pI6", MAPPED, "0000:0000:0000:0000:0000:ffff:7f00:0001"),
        ("%pi6", MAPPED, "00000000000000000000ffff7f000001"),
        ("%pISpc", b"\x02\0\xbb\x51\x7f\0\0\x01" + bytes(20), "127.0.0.1:47953"),
        ("%pISpc", b"\x0a\0\0\x50" + bytes(19) + b"\x01" + bytes(4), "[::1]:80"),
        ("%pISc", b"\x0a\0\0\x50" + bytes(19) + b"\x01" + bytes(4), "::1"),
        ("%pM", bytes(range(6)), "00:01:02:03:04:05"),
        ("%pMR", bytes(range(6)), "05:04:03:02:01:00"),
        ("%pMF", bytes(range(6)), "00-01-02-03-04-05"),
        ("%pm", bytes(range(6)), "000102030405"),
        ("%*ph", b"\x01\xab", "01 ab"),
        ("%*phD", b"\x01\xab", "01-ab"),
        ("%pUb", bytes(range(16)), "00010203-0405-0607-0809-0a0b0c0d0e0f"),
        ("%pUL", bytes(range(16)), "03020100-0504-0706-0809-0A0B0C0D0E0F"),
    ],
)
def test_addresses_are_printed_as_the_kernel_does(conversion: str, value: bytes, expected: str, tmp_path: Path) -> None:
    width = f"{len(value)}, " if "*" in conversion else ""
    described = event(
        [(f"u8 v[{len(value)}]", len(value), 0)], f'"v={conversion} w={conversion}", {width}REC->v, {width}REC->v'
    )
    assert values(tmp_path, described, value) == [{"v": expected, "w": expected}]


def test_addresses_of_other_families_and_elsewhere(tmp_path: Path) -> None:
    described = event([("__data_loc __u8[] a", 4, 0)], '"addr=%pISpc", __get_sockaddr(a)')
    sockets = [b"\x02\0\0\x50\x0a\0\0\x01", b"\x01\0/run"]
    trace = decoded(tmp_path, described, *(struct.pack("<I", len(one) << 16 | 12) + one for one in sockets))
    found = [(row["a"], row["addr"]) for row in rows(trace, "raw_events.own")]
    assert found == [("020000500a000001", "10.0.0.1:80"), ("01002f72756e", None)]
    assert told(trace) == {"event with a value that cannot be read, which is NULL": 1}


def test_a_pointer_printed_as_an_address_is_a_number(tmp_path: Path) -> None:
    described = event([("void * v", 8, 0)], '"v=%pM w=%pI4", REC->v, REC->v')
    assert values(tmp_path, described, struct.pack("<Q", 5)) == [{"v": 5}]


def test_bytes_that_programs_write_are_hexadecimal(tmp_path: Path) -> None:
    described = event([("unsigned int id", 4, 0), ("char buf[]", 0, 1)], '"id:%04x %08x", REC->id', "raw_data")
    trace = decoded(tmp_path, described, struct.pack("<I", 17) + b"ab\0\xffcdef", system="ftrace")
    assert [(row["id"], row["buf"]) for row in rows(trace, "raw_events.raw_data")] == [(17, "616200ff63646566")]


@pytest.mark.parametrize(
    "printed",
    [
        '"v=%d", REC->v',
        '"v=%s", some_function(REC->v, "a,b")',
        '"v=%s", __print_symbolic(REC->v, { UNKNOWN_CONSTANT, "x" })',
        '"v=%pI4", &REC->v',
        '"v=%s", (((((',
        '"v=%s", __print_flags(REC->v, "|", { 1, "A" ',
        '"v=%s", ' + "(" * 500 + "1" + ")" * 500,
        '"v=%s", ' + "!" * 5000 + "1",
        '"v=%d", 1 ? 2',
        '"v=',
        "v=%d",
        '"v=%',
        "",
    ],
)
def test_unsupported_print_formats_leave_the_number(printed: str, tmp_path: Path) -> None:
    (found,) = values(tmp_path, event([("u32 v", 4, 0)], printed), struct.pack("<I", 5))
    assert found == {"v": 5}


def test_a_field_may_be_named_with_a_colon(tmp_path: Path) -> None:
    printed = '"at=%pS v: %s w:%d other: %s", (void *)REC->at, __print_symbolic(REC->v, { 1, "one" }), REC->w, "x"'
    fields = [("void * at", 8, 0), ("u32 v", 4, 0), ("int w", 4, 1)]
    (found,) = values(tmp_path, event(fields, printed), struct.pack("<QIi", MARK_IP, 1, 5))
    assert found == {
        "at": "tracing_mark_write+0x20/0x100",
        "v": "one",
        "w": 5,
        "at_number": MARK_IP,
        "v_number": 1,
    }


def test_values_that_are_no_fields_are_columns(tmp_path: Path) -> None:
    printed = '"major=%u minor=%u name=%s text=%s", REC->dev >> 20, (u8)REC->dev, __get_str(path), "[" '
    fields = [("u32 dev", 4, 0), ("__data_loc char[] path", 4, 0)]
    payload = struct.pack("<II", 3 << 20 | 0x1FF, 5 << 16 | 16) + b"/tmp\0"
    (found,) = values(tmp_path, event(fields, printed), payload)
    assert found == {
        "dev": 3 << 20 | 0x1FF,
        "path": "/tmp",
        "major": 3,
        "minor": 255,
        "name": "/tmp",
        "field_text": "[",
    }


def test_fields_are_not_named_as_columns_of_all_events(tmp_path: Path) -> None:
    names = ("cpu", "CPU", "line", "dur", "cat", "text", "buffer", "common_comm")
    fields = [(f"int {name}", 4, 1) for name in names[:-1]]
    (found,) = values(tmp_path, event(fields), struct.pack("<7i", *range(7)))
    assert list(found) == [f"field_{name}" for name in ("cpu", "field_CPU", "line", "dur", "cat", "text", "buffer")]


def test_system_calls_have_arguments_as_printed(tmp_path: Path) -> None:
    fields = [("long id", 8, 1), ("unsigned long args[6]", 48, 0)]
    payload = struct.pack("<q6Q", 257, 0xFFFFFF9C, 0, 16, 1, 2, 1 << 63)
    described = event(fields, '"NR %ld"', "sys_enter")
    (found,) = values(tmp_path, described, payload)
    assert found == {"id": 257, "args": "ffffff9c, 0, 10, 1, 2, 8000000000000000"}
    columns = decoded(tmp_path, described, payload).tables["raw_events.sys_enter"].schema.columns
    assert {column.name: column.type for column in columns}["args"] == "VARCHAR"


def test_units_match_the_text_reader(tmp_path: Path) -> None:
    trace = decoded(tmp_path, event([("u64 bytes_req", 8, 0)], name="kmalloc"), struct.pack("<Q", 64))
    units = {column.name: str(column.unit) for column in trace.tables["raw_events.kmalloc"].schema.columns}
    assert (units["_ts"], units["bytes_req"], units["cpu"]) == ("ns", "B", "")


def test_texts_of_trace_printk_are_formatted(tmp_path: Path) -> None:
    bprint = event([("unsigned long ip", 8, 0), ("const char * fmt", 8, 0), ("u32 buf[]", 0, 0)], name="bprint")
    printks = b'0xffff1000 : "n=%d l=%llx s=%s c=%c at %ps %5.2s|\\n"\n0xffff2000 : "plain"\n'
    packed = struct.pack("<iQ", -5, 0xABC) + b"text\0" + b"!" + b"\0\0" + struct.pack("<Q", MARK_IP) + b"xyz\0"
    payloads = [struct.pack("<QQ", MARK_IP, 0xFFFF1000) + packed, struct.pack("<QQ", MARK_IP, 0xFFFF2000)]
    payloads.append(struct.pack("<QQ", MARK_IP, 0xFFFF3000))
    trace = decoded(tmp_path, bprint, *payloads, printks=printks, system="ftrace")
    assert [(row["ip"], row["text"]) for row in rows(trace, "raw_events.bprint")] == [
        ("tracing_mark_write", "n=-5 l=abc s=text c=! at tracing_mark_write    xy|"),
        ("tracing_mark_write", "plain"),
        ("tracing_mark_write", "0xffff3000"),
    ]
    assert told(trace) == {"event with a value that cannot be read, which is NULL": 1}


def test_events_of_one_name_share_a_table(tmp_path: Path) -> None:
    one = event([("int a", 4, 1)], name="same")
    other = replace(event([("int b", 4, 1), ("int a", 4, 1)], name="same"), id=901, system="other")
    ring = Ring()
    ring.put(1000, head("<", 900, 7) + struct.pack("<i", 1))
    ring.put(1001, head("<", 901, 7) + struct.pack("<ii", 2, 3))
    trace = loaded(replace(small(), events=(*EVENTS, one, other), buffers={"": [ring]}), tmp_path)
    assert [(row["a"], row["b"]) for row in rows(trace, "raw_events.same")] == [(1, None), (3, 2)]
