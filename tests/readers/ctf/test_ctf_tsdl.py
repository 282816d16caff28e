"""Metadata in TSDL: types, names, byte orders, clocks, contexts; each trace is written out here."""

from __future__ import annotations

import struct as packing
from pathlib import Path

import pytest

from dctv.errors import TraceError
from tests.readers.ctf.ctf_writing import TSDL, load, notes, rows, tsdl, write


@pytest.mark.parametrize(
    ("fields", "data", "expected"),
    [
        ("u8 a; u32 b;", b"\x01\x02\x00\x00\x00", {"a": 1, "b": 2}),
        ("u8 _a, _b;", b"\x01\x02", {"a": 1, "b": 2}),
        ("integer { size = 4; } a; integer { size = 12; signed = true; } b;", b"\xf5\xff", {"a": 5, "b": -1}),
        ("integer { size = 32; byte_order = be; } a;", b"\0\0\1\0", {"a": 256}),
        ("u8 a[2]; ch b[4]; u8 n; ch c[n];", b"\1\2ab\0c\3xyz", {"a": [1, 2], "b": "ab", "n": 3, "c": "xyz"}),
        ("u8 n; u8 a[n][2];", b"\2\1\2\3\4", {"n": 2, "a": [[1, 2], [3, 4]]}),
        ("struct { u8 x; struct { u8 y; } in; } s;", b"\1\2", {"s_x": 1, "s_in_y": 2}),
        ("string a; string { encoding = ASCII; } b;", b"hi\0there\0", {"a": "hi", "b": "there"}),
        ("floating_point { exp_dig = 8; mant_dig = 24; align = 8; } f;", packing.pack("<f", 0.5), {"f": 0.5}),
        ("enum : u8 { A, B = 5, C, D = 10 ... 20, \"E F\" } e, f, g;", b"\x06\x0b\x63",
         {"e": "C", "f": "D", "g": "99"}),
        ("enum : u8 { A = 0 ... 5, B = 3 ... 4 } e, f;", b"\x01\x03", {"e": "A", "f": "A|B"}),
        ("enum : u8 { _a, _b } t; variant <t> { u8 _a; string _b; } v;", b"\1x\0",
         {"t": "_b", "v_a": None, "v_b": "x"}),
        ("typedef u8 pair[2]; pair p; typealias u16 := unsigned short; unsigned short q;", b"\1\2\3\0",
         {"p": [1, 2], "q": 3}),
        ("typealias u32 := void *; void *p;", b"\4\0\0\0", {"p": 4}),
        ("struct point { u8 x; u8 y; } a; struct point b;", b"\1\2\3\4", {"a_x": 1, "a_y": 2, "b_x": 3, "b_y": 4}),
        ("u8 a; struct { u8 x; } align(32) s;", b"\1\0\0\0\2", {"a": 1, "s_x": 2}),
        ("u8 cpu; u8 line; u8 dur; u8 CPU;", b"\1\2\3\4",
         {"field_cpu": 1, "field_line": 2, "field_dur": 3, "field_field_CPU": 4}),
        ("u64 a; integer { size = 64; signed = 1; } b;", b"\xff" * 16, {"a": (1 << 64) - 1, "b": -1}),
    ],
)  # fmt: skip
def test_types(tmp_path: Path, fields: str, data: bytes, expected: dict[str, object]) -> None:
    trace = load(write(tmp_path / "t", tsdl(fields), data))
    assert notes(trace) == {}
    assert rows(trace) == [expected]


def test_big_endian_bits(tmp_path: Path) -> None:
    metadata = tsdl("integer { size = 3; } a; integer { size = 13; } b; u16 c;", order="be")
    assert rows(load(write(tmp_path / "t", metadata, bytes([0b101_00000, 7, 1, 2])))) == [{"a": 5, "b": 7, "c": 258}]


def test_comments_and_odd_spellings(tmp_path: Path) -> None:
    metadata = '/* CTF 1.8 */\r\n// one\r\ntrace { major = 0x1; minor = 010; byte_order = "le"; };\r\n'
    metadata += (
        'event { name = "a\\x62\\"c"; fields := struct { integer { size = 8u; align = 8ULL; } x /* here */ ; }; };'
    )
    assert rows(load(write(tmp_path / "t", metadata, b"\1")), 'ab"c') == [{"x": 1}]


CLOCK = """
clock { name = k; freq = 1000000000; offset = 5000; };
typealias integer { size = 27; align = 1; map = clock.k.value; } := t27;
typealias integer { size = 64; align = 8; map = clock.k.value; } := t64;
"""
COMPACT = """
struct header {
  enum : integer { size = 5; align = 1; } { compact = 0 ... 30, extended = 31 } id;
  variant <id> { struct { t27 timestamp; } compact; struct { u32 id; t64 timestamp; } extended; } v;
} align(8);
stream { event.header := struct header; };
"""


def compact(number: int, cycles: int, value: int) -> bytes:
    return (number | (cycles & (1 << 27) - 1) << 5).to_bytes(4, "little") + bytes([value])


def test_headers_as_lttng_writes_them_and_times_that_wrap(tmp_path: Path) -> None:
    start = (1 << 27) - 10
    data = packing.pack("<BIQB", 31, 40, start, 1) + compact(3, start + 5, 2) + compact(3, start + 20, 3)
    events = "".join(
        f'event {{ name = "{name}"; id = {number}; stream_id = 0; fields := struct {{ u8 x; }}; }};'
        for name, number in (("far", 40), ("near", 3))
    )
    trace = load(write(tmp_path / "t", TSDL % "le" + CLOCK + COMPACT + events, data))
    assert notes(trace) == {}
    assert rows(trace, "far", without=()) == [{"_ts": 0, "line": 0, "x": 1}]
    assert rows(trace, "near", without=()) == [{"_ts": 5, "line": 1, "x": 2}, {"_ts": 20, "line": 2, "x": 3}]
    assert trace.properties["start_unix_ns"] == str(start + 5000)
    assert trace.properties["start_ns"] == str(start)


@pytest.mark.parametrize(
    ("clock", "ns"),
    [
        ("freq = 1000000; offset = 3;", 1003_000),
        ("freq = 3; offset_s = 1;", 334_333_333_333),
        ("offset_s = -1; offset = 7;", -999_998_993),
        ("freq = 1000000000; absolute = true;", 1000),
    ],
)
def test_clocks(tmp_path: Path, clock: str, ns: int) -> None:
    metadata = TSDL % "le" + f"clock {{ name = k; {clock} }};"
    metadata += (
        "stream { event.header := struct { u64 timestamp; }; }; event { name = e; fields := struct { u8 x; }; };"
    )
    trace = load(write(tmp_path / "t", metadata, packing.pack("<QB", 1000, 1)))
    assert trace.properties["start_unix_ns"] == str(ns)


def test_without_a_clock_the_order_is_that_of_the_files(tmp_path: Path) -> None:
    trace = load(write(tmp_path / "t", tsdl("u8 x;"), b"\1\2", b"\3"))
    assert rows(trace, without=()) == [{"_ts": 0, "line": n, "x": n + 1} for n in range(3)]
    assert trace.properties["clock"] == "none"


def test_streams_are_merged_by_time(tmp_path: Path) -> None:
    metadata = TSDL % "le" + CLOCK + "stream { event.header := struct { t64 timestamp; }; };"
    metadata += "event { name = e; fields := struct { u8 x; }; };"
    streams = [b"".join(packing.pack("<QB", time, time) for time in times) for times in ((1, 4, 6), (2, 3, 7), (5,))]
    trace = load(write(tmp_path / "t", metadata, *streams))
    assert [(row["line"], row["x"]) for row in rows(trace, without=())] == [(n, n + 1) for n in range(7)]


PACKETS = """
stream {
  packet.context := struct { t64 timestamp_begin; u32 packet_size; u32 content_size; u32 packet_seq_num;
    u32 events_discarded; u32 cpu_id; };
  event.context := struct { s32 _vtid; s32 _vpid; ch _procname[8]; s32 _x; };
};
event { name = e; fields := struct { u8 x; u8 tid; }; };
"""


def packet(begin: int, sequence: int, discarded: int, *events: tuple[int, int]) -> bytes:
    body = b"".join(packing.pack("<ii8siBB", 11, 10, b"comm", -3, *event) for event in events)
    content = (28 + len(body)) * 8
    head = packing.pack("<QIIIII", begin, content + 64, content, sequence, discarded, 2)
    return head + body + b"padding!"


def test_contexts_are_columns_and_the_payload_keeps_its_names(tmp_path: Path) -> None:
    trace = load(write(tmp_path / "t", TSDL % "le" + CLOCK + PACKETS, packet(1, 0, 0, (1, 7))))
    assert rows(trace, without=()) == [
        {"_ts": 0, "cpu": 2, "common_comm": "comm", "common_pid": 11, "common_tgid": 10, "line": 0, "vtid": 11,
         "vpid": 10, "procname": "comm", "context_x": -3, "x": 1, "tid": 7}
    ]  # fmt: skip
    event = trace.tables["raw_events.e"].event
    assert event is not None
    assert (event.pid, event.tid, event.args) == (
        "common_tgid",
        "common_pid",
        ("vtid", "vpid", "procname", "context_x", "x", "tid"),
    )
    (row,) = trace.tables["packets"].data.to_pylist()
    assert (row["cpu"], row["seq_num"], row["clock_begin"], row["size"]) == (2, 0, 5001, 58)


def test_losses_are_counted(tmp_path: Path) -> None:
    data = packet(1, 5, 0, (1, 1)) + packet(2, 8, 3, (2, 2)) + packet(3, 9, 2**32 - 1, (3, 3)) + packet(4, 10, 1)
    trace = load(write(tmp_path / "t", TSDL % "le" + CLOCK + PACKETS, data))
    assert [row["x"] for row in rows(trace)] == [1, 2, 3]
    assert notes(trace) == {"packets lost by the tracer": 2, "events discarded by the tracer": 2**32 + 1}
    assert not any(one.incomplete for one in trace.diagnostics)


UNKNOWN_CLOCK = "stream { event.header := struct { integer { size = 8; map = clock.q.value; } t; }; };"


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ("/* CTF 1.8 */ trace { major = 1; };",
         "the metadata have version 1.missing, but only 1.8 and 2 are supported"),
        ("/* CTF 1.8 */", "the metadata have no `trace` block"),
        ("/* CTF 1.8 */ trace { major = 1; minor = 8; };",
         "the byte order of the trace must be `le` or `be`, but it is `missing`"),
        ("/* CTF 1.8 */ trace {", "the metadata end within a declaration"),
        ("/* CTF 1.8 */\n\ntrace ( );", "line 3 of the metadata: unexpected `(`"),
        ("/* CTF 1.8 */\ntrace @", "line 2 of the metadata: unexpected `@`"),
        (tsdl("nothing a;"), "no type is called `nothing`"),
        (tsdl("integer { size = 65; } a;"), "an integer has 65 bits, which must be 1 to 64"),
        (tsdl("integer { size = 8; align = 3; } a;"), "an alignment must be a power of two, not 3"),
        (tsdl("u8 a; u8 a;"), "a structure has two fields with the same name"),
        (tsdl("floating_point { exp_dig = 5; mant_dig = 11; } f;"),
         "a floating-point number has 16 bits, which must be 32 or 64"),
        (tsdl("variant { u8 a; } v;"), "the variant `v` has no selector"),
        (tsdl("enum : u8 { A } t; variant <t> { u8 B; } v;"), "the option `B` of `v` matches no label of `t`"),
        (tsdl("u8 n; ", before="clock { name = k; freq = 0; };"), "the clock `k` has a frequency of 0 Hz"),
        (tsdl("u8 n; ", before="event { name = f; };"), "two events of stream 0 have the number 0"),
        (tsdl("u8 n; ", before="stream { id = 1; }; event { name = f; stream_id = 2; };"),
         "the event `f` belongs to stream 2, which the metadata do not declare"),
        (tsdl("enum : u8 { A = 3 ... 1 } t;"), "the range of the label `A` ends before it begins"),
        (tsdl("integer { size = 8; map = clock.q.value; } t;", before=UNKNOWN_CLOCK), "no clock is called `q`"),
        (tsdl("struct { " * 60 + "u8 x; " + "} a; " * 60), "types are nested more than 48 deep"),
    ],
)  # fmt: skip
def test_metadata_that_cannot_be_used(tmp_path: Path, metadata: str, words: str) -> None:
    with pytest.raises(TraceError) as error:
        load(write(tmp_path / "t", metadata, b"x"))
    assert error.value.message == f"cannot read `{tmp_path / 't' / 'metadata'}`: {words}"


def test_unknown_attributes_are_reported(tmp_path: Path) -> None:
    metadata = tsdl("u8 x;", before="stream { odd = 1; };")
    trace = load(write(tmp_path / "t", metadata, b"\1"))
    assert [(one.reason, one.example) for one in trace.diagnostics] == [
        ("unknown attribute in the metadata", "`odd` of stream")
    ]


@pytest.mark.parametrize("order", ["<", ">"])
def test_metadata_in_packets(tmp_path: Path, order: str) -> None:
    text = tsdl("u8 x;").encode()
    raw = b""
    for part in (text[:100], text[100:]):
        head = packing.pack(
            f"{order}I16sIIIBBBBB", 0x75D11D57, b"u" * 16, 0, (37 + len(part)) * 8, (40 + len(part)) * 8, 0, 0, 0, 1, 8
        )
        raw += head + part + b"\0\0\0"
    assert rows(load(write(tmp_path / "t", raw, b"\1"))) == [{"x": 1}]


def test_lengths_in_structures_that_are_open_by_their_whole_path(tmp_path: Path) -> None:
    metadata = tsdl("struct { u8 n; u8 a[event.fields.s.n]; } s; struct { u8 n; u8 a[event.fields.l.n]; } l[2];")
    assert rows(load(write(tmp_path / "t", metadata, b"\2\5\6\1\7\0"))) == [
        {"s_n": 2, "s_a": [5, 6], "l": [{"n": 1, "a": [7]}, {"n": 0, "a": []}]}
    ]
