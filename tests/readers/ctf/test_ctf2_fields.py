"""Fields of CTF 2, each decoded from bytes that are written out here."""

from __future__ import annotations

import json
import struct as packing
from pathlib import Path
from typing import Any

import pytest

from dctv.errors import TraceError
from tests.readers.ctf.ctf_writing import fragments, load, notes, payload, rows, sint, struct, uint, write


def decoded(folder: Path, data: bytes, *members: tuple[str, Any]) -> dict[str, Any]:
    trace = load(write(folder / "t", payload(*members), data))
    (row,) = rows(trace)
    assert notes(trace) == {}
    return row


def test_whole_numbers_of_any_size_and_order(tmp_path: Path) -> None:
    row = decoded(
        tmp_path,
        bytes([0b1010_0110, 0xFF, 0x12, 0x34, 0xFE, 0xFF]),
        ("low", uint(3)), ("high", uint(5)), ("negative", sint(8)),
        ("big", uint(16, "big-endian")), ("little", sint(16)),
    )  # fmt: skip
    assert row == {"low": 0b110, "high": 0b10100, "negative": -1, "big": 0x1234, "little": -2}


def test_big_endian_bits_begin_at_the_highest(tmp_path: Path) -> None:
    sizes = (("a", 3), ("b", 6), ("c", 7))
    row = decoded(tmp_path, bytes([0b1010_0110, 0x85]), *((name, uint(size, "big-endian")) for name, size in sizes))
    assert row == {"a": 0b101, "b": 0b001101, "c": 5}


def test_64_bits_at_an_odd_place(tmp_path: Path) -> None:
    value = 0xFEDC_BA98_7654_3210
    data = (value << 5 | 0b10101).to_bytes(9, "little")
    assert decoded(tmp_path, data, ("a", uint(5)), ("b", uint(64)), ("c", uint(3))) == {"a": 21, "b": value, "c": 0}
    data = (0b10101 << 67 | value << 3).to_bytes(9, "big")
    sizes = (("a", 5), ("b", 64), ("c", 3))
    found = decoded(tmp_path / "big", data, *((name, uint(size, "big-endian")) for name, size in sizes))
    assert found == {"a": 21, "b": value, "c": 0}


def test_bits_in_the_opposite_order(tmp_path: Path) -> None:
    field = {**uint(8), "bit-order": "last-to-first"}
    assert decoded(tmp_path, bytes([0b1000_0011]), ("a", field)) == {"a": 0b1100_0001}


def test_alignment_counts_from_the_packet(tmp_path: Path) -> None:
    row = decoded(tmp_path, bytes([1, 0, 0, 0, 2, 0, 0, 0]), ("a", uint(8)), ("b", uint(32, alignment=32)))
    assert row == {"a": 1, "b": 2}


def test_booleans_bit_arrays_and_bit_maps(tmp_path: Path) -> None:
    flags = {"read": [[0, 0]], "write": [[1, 1]], "other": [[2, 7]]}
    row = decoded(
        tmp_path,
        bytes([1, 0xA5, 0b1000_0001]),
        ("yes", {"type": "fixed-length-boolean", "length": 8, "byte-order": "little-endian"}),
        ("bits", {"type": "fixed-length-bit-array", "length": 8, "byte-order": "little-endian"}),
        ("map", {"type": "fixed-length-bit-map", "length": 8, "byte-order": "little-endian", "flags": flags}),
    )
    assert row == {"yes": True, "bits": 0xA5, "map": "read|other"}


def test_a_name_of_several_bits_stands_once(tmp_path: Path) -> None:
    flags = {"odd": [[1, 1], [3, 3], [5, 5]], "three": [[3, 3]]}
    field = {"type": "fixed-length-bit-map", "length": 8, "byte-order": "little-endian", "flags": flags}
    assert decoded(tmp_path, bytes([0b10_1010]), ("map", field)) == {"map": "odd|three"}


def test_numbers_of_varying_length(tmp_path: Path) -> None:
    unsigned, signed = {"type": "variable-length-unsigned-integer"}, {"type": "variable-length-signed-integer"}
    row = decoded(tmp_path, bytes([0x7F, 0xE5, 0x8E, 0x26, 0x7F, 0xC0, 0xBB, 0x78]),
                  ("a", unsigned), ("b", unsigned), ("c", signed), ("d", signed))  # fmt: skip
    assert row == {"a": 127, "b": 624485, "c": -1, "d": -123456}


def varying(value: int) -> bytes:
    """A number in 7 bits a byte, the lowest first, with as many bytes as it needs."""
    data = bytearray()
    while value not in (0, -1) or not data or bool(data[-1] & 64) != (value < 0):
        data.append(value & 127 | 128)
        value >>= 7
    data[-1] &= 127
    return bytes(data)


@pytest.mark.parametrize(
    ("kind", "values", "damaged"),
    [
        ("signed", (-(1 << 63), (1 << 63) - 1, -1, 1 << 62, -(1 << 62) - 1), b""),
        ("unsigned", ((1 << 64) - 1, 1 << 63, 0), b""),
        ("signed", (1,), varying(1 << 63)),
        ("signed", (1,), varying(-(1 << 63) - 1)),
        ("signed", (1,), varying(-(1 << 70))),
        ("unsigned", (1,), varying(1 << 64)),
        ("unsigned", (1,), varying(1 << 77)),
    ],
)
def test_numbers_of_varying_length_have_up_to_64_bits(
    kind: str, values: tuple[int, ...], damaged: bytes, tmp_path: Path
) -> None:
    name = f"variable-length-{kind}-integer"
    padded = b"".join(varying(value) for value in values) + (b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00")
    trace = load(write(tmp_path / "t", payload(("a", {"type": name})), padded + damaged))
    assert [row["a"] for row in rows(trace)] == [*values, 0]
    assert notes(trace) == ({"a number has more than 64 bits": 1} if damaged else {})


def test_labels_of_numbers(tmp_path: Path) -> None:
    field = sint(8, mappings={"low": [[-5, -1]], "one": [[1, 1]], "odd": [[1, 1], [3, 3]]})
    old = {**field, "type": "fixed-length-signed-enumeration"}
    row = decoded(tmp_path, bytes([0xFD, 1, 3, 9]), ("a", field), ("b", field), ("c", old), ("d", old))
    assert row == {"a": "low", "b": "one|odd", "c": "odd", "d": "9"}


def test_floating_point_numbers(tmp_path: Path) -> None:
    def number(length: int, order: str) -> dict[str, Any]:
        return {"type": "fixed-length-floating-point-number", "length": length, "byte-order": order}

    data = packing.pack("<f", 1.5) + packing.pack(">d", -0.1)
    row = decoded(tmp_path, data, ("a", number(32, "little-endian")), ("b", number(64, "big-endian")))
    assert row == {"a": 1.5, "b": -0.1}


def test_texts_in_every_encoding(tmp_path: Path) -> None:
    def text(encoding: str, **more: Any) -> dict[str, Any]:
        return {"type": "null-terminated-string", "encoding": encoding, **more}

    data = b"h\xc3\xa9\0" + "h\u20ac\0".encode("utf-16-le") + "\U0001f600\0".encode("utf-16-be")
    data += "x\0".encode("utf-32-le") + "y\0".encode("utf-32-be") + b"ab\0d" + b"\x03xyz"
    row = decoded(
        tmp_path, data,
        ("a", text("utf-8")), ("b", text("utf-16le")), ("c", text("utf-16be")), ("d", text("utf-32le")),
        ("e", text("utf-32be")), ("f", {"type": "static-length-string", "length": 4}), ("n", uint(8)),
        ("g", {"type": "dynamic-length-string", "length-field-location": {"path": ["n"]}}),
    )  # fmt: skip
    expected = {"a": "h\u00e9", "b": "h\u20ac", "c": "\U0001f600", "d": "x", "e": "y", "f": "ab", "n": 3, "g": "xyz"}
    assert row == expected


def test_blobs_are_hexadecimal(tmp_path: Path) -> None:
    row = decoded(
        tmp_path, b"\x00\xff\x02\xab\xcd",
        ("a", {"type": "static-length-blob", "length": 2}), ("n", uint(8)),
        ("b", {"type": "dynamic-length-blob", "length-field-location": ["event-record-payload", "n"]}),
    )  # fmt: skip
    assert row == {"a": "00ff", "n": 2, "b": "abcd"}


def test_arrays_are_json_and_structures_are_flat(tmp_path: Path) -> None:
    pair = struct(("x", uint(8)), ("s", {"type": "null-terminated-string"}))
    row = decoded(
        tmp_path, b"\x01a\0\x02\"\\\n\0" + b"\x07q\0" + b"\x02\x05\x06",
        ("a", {"type": "static-length-array", "length": 2, "element-field-class": pair}), ("b", pair), ("n", uint(8)),
        ("c",
         {"type": "dynamic-length-array", "length-field-location": {"path": ["n"]}, "element-field-class": uint(8)}),
    )  # fmt: skip
    assert row == {
        "a": [{"x": 1, "s": "a"}, {"x": 2, "s": '"\\\n'}], "b_x": 7, "b_s": "q", "n": 2, "c": [5, 6],
    }  # fmt: skip


def test_variants_and_optional_fields(tmp_path: Path) -> None:
    options = [
        {"name": "number", "field-class": uint(8), "selector-field-ranges": [[0, 3]]},
        {"name": "text", "field-class": {"type": "null-terminated-string"}, "selector-field-ranges": [[4, 4]]},
    ]
    where = {"origin": "event-record-payload", "path": ["tag"]}
    members = (
        ("tag", uint(8)),
        ("v", {"type": "variant", "options": options, "selector-field-location": where}),
        ("has", {"type": "fixed-length-boolean", "length": 8, "byte-order": "little-endian"}),
        ("o", {"type": "optional", "field-class": uint(8), "selector-field-location": {"path": ["has"]}}),
    )  # fmt: skip
    trace = load(write(tmp_path / "t", payload(*members), b"\x02\x09\x01\x2a" + b"\x04hi\0\x00"))
    assert rows(trace) == [
        {"tag": 2, "v_number": 9, "v_text": None, "has": True, "o": 42},
        {"tag": 4, "v_number": None, "v_text": "hi", "has": False, "o": None},
    ]


def test_lengths_are_found_in_enclosing_and_earlier_structures(tmp_path: Path) -> None:
    array = {
        "type": "dynamic-length-array",
        "length-field-location": {"path": [None, "n"]},
        "element-field-class": uint(8),
    }
    row = decoded(tmp_path, b"\x02\x05\x06", ("n", uint(8)), ("inner", struct(("a", array))))
    assert row == {"n": 2, "inner_a": [5, 6]}


def located(*path: str | None) -> dict[str, Any]:
    return {"origin": "event-record-payload", "path": path}


def list_of(length: dict[str, Any]) -> dict[str, Any]:
    """A structure with a number, and so many bytes as the number at a location says."""
    bytes_ = {"type": "dynamic-length-array", "length-field-location": length, "element-field-class": uint(8)}
    return struct(("n", uint(8)), ("a", bytes_))


def test_lengths_in_structures_that_are_open(tmp_path: Path) -> None:
    """A location may lead from the outside through the structures, arrays and options around the field itself."""
    twice = {"type": "static-length-array", "length": 2}
    options = [
        {"name": name, "selector-field-ranges": [[number, number]], "field-class": list_of(located("v", "n"))}
        for number, name in ((1, "one"), (2, "two"))
    ]
    nested = {**twice, "element-field-class": list_of(located("ll", "n"))}
    row = decoded(
        tmp_path,
        b"\x02\x05\x06" + b"\x01\x07\x00" + b"\x02\x08\x09\x01\x0a" + b"\x02" + b"\x01\x0b" + b"\x01\x0c",
        ("s", list_of(located("s", "n"))),
        ("l", {**twice, "element-field-class": list_of(located("l", "n"))}),
        ("ll", {**twice, "length": 1, "element-field-class": nested}),
        ("tag", uint(8)),
        ("v", {"type": "variant", "options": options, "selector-field-location": located("tag")}),
        ("o", {"type": "optional", "field-class": list_of(located("o", "n")), "selector-field-ranges": [[2, 2]],
               "selector-field-location": located("tag")}),
    )  # fmt: skip
    assert row == {
        "s_n": 2, "s_a": [5, 6], "l": [{"n": 1, "a": [7]}, {"n": 0, "a": []}],
        "ll": [[{"n": 2, "a": [8, 9]}, {"n": 1, "a": [10]}]], "tag": 2,
        "v_one_n": None, "v_one_a": None, "v_two_n": 1, "v_two_a": [11], "o_n": 1, "o_a": [12],
    }  # fmt: skip


def test_locations_may_turn(tmp_path: Path) -> None:
    found = list_of({"path": ["a", None, None, "s", None, "m"]})
    row = decoded(tmp_path, b"\x01\x07\x09", ("m", uint(8)), ("s", found))
    assert row == {"m": 1, "s_n": 7, "s_a": [9]}


@pytest.mark.parametrize("path", [("s", "a"), ("l", "n"), ("s", "later")])
def test_lengths_must_come_before(path: tuple[str, ...], tmp_path: Path) -> None:
    """Not the field itself, an array that has ended, or a later field."""
    array = {"type": "static-length-array", "length": 2, "element-field-class": struct(("n", uint(8)))}
    inner = list_of(located(*path))
    inner["member-classes"].append({"name": "later", "field-class": uint(8)})
    with pytest.raises(TraceError, match="but there is no such field before it"):
        load(write(tmp_path / "t", payload(("l", array), ("s", inner)), b"\0"))


def test_aliases_roles_and_clock(tmp_path: Path) -> None:
    metadata = fragments(
        {"type": "field-class-alias", "name": "u8", "field-class": uint(8)},
        {"type": "trace-class", "environment": {"hostname": "h"}, "packet-header-field-class": struct(
            ("magic", uint(32, roles=["packet-magic-number"])), ("id", uint(8, roles=["data-stream-class-id"])))},
        {"type": "clock-class", "id": "c", "name": "ticks", "frequency": 1000, "offset-from-origin": {"seconds": 2}},
        {"type": "data-stream-class", "id": 3, "default-clock-class-id": "c",
         "packet-context-field-class": struct(
             ("begin", uint(64, roles=["default-clock-timestamp"])), ("cpu_id", "u8"),
             ("size", uint(16, roles=["packet-total-length"])), ("content", uint(16, roles=["packet-content-length"]))),
         "event-record-header-field-class": struct(
             ("id", uint(8, roles=["event-record-class-id"])), ("t", uint(8, roles=["default-clock-timestamp"]))),
         "event-record-common-context-field-class": struct(("vtid", sint(32)))},
        {"type": "event-record-class", "name": "e", "id": 7, "data-stream-class-id": 3,
         "payload-field-class": struct(("x", "u8"))},
    )  # fmt: skip
    head = packing.pack("<IBQBHH", 0xC1FC1FC1, 3, 250, 5, 256, 256)
    data = head + packing.pack("<BBiB", 7, 251, 99, 1) + packing.pack("<BBiB", 7, 1, -1, 2)
    trace = load(write(tmp_path / "t", metadata, data))
    assert notes(trace) == {}
    assert rows(trace, without=()) == [
        {"_ts": 0, "cpu": 5, "common_pid": 99, "line": 0, "vtid": 99, "x": 1},
        {"_ts": 6_000_000, "cpu": 5, "common_pid": -1, "line": 1, "vtid": -1, "x": 2},
    ]
    assert trace.properties["start_unix_ns"] == "2251000000"
    assert trace.properties["start_ns"] == "251000000"
    assert trace.properties["clock"] == "ticks"
    assert trace.properties["host"] == "h"


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        (fragments() + "\x1e[1]", "fragment 2 of the metadata is not a JSON object"),
        ('\x1e{"type": ', "fragment 1 of the metadata is not JSON: expecting value"),
        ("\x1e" + '{"a":' * 100_000,
         "fragment 1 of the metadata cannot be parsed: it is too deep, or a number is too long"),
        ('\x1e{"type": "trace-class"}', "the metadata must begin with one preamble"),
        ('\x1e{"type": "preamble", "version": 3}', "the metadata have version 3, but only 1.8 and 2 are supported"),
        ('\x1e{"type": "preamble", "version": 2, "extensions": {"my.org": {"zip": {}}}}',
         "the metadata require unknown extensions: zip"),
        (payload(("a", "nothing")), "no field class is called `nothing`"),
        (payload(("a", uint(65))), "a field has 65 bits, which must be 1 to 64"),
        (payload(("a", {**uint(8), "byte-order": "middle"})),
         "a byte order must be `little-endian` or `big-endian`, not `middle`"),
        (payload(("a", {"type": "odd"})), "unknown type `odd` of a field class"),
        (payload(("a", uint(8)), ("a", uint(8))), "a structure has two fields with the same name"),
        (payload(("a", {"type": "dynamic-length-blob", "length-field-location": {"path": ["n"]}})),
         "the length of `a` is in the field `n`, but there is no such field before it"),
        (payload(("n", sint(8)), ("a", {"type": "dynamic-length-blob", "length-field-location": {"path": ["n"]}})),
         "the length of `a` is in the field `n`, which is signed"),
    ],
)  # fmt: skip
def test_metadata_that_cannot_be_used(tmp_path: Path, metadata: str, words: str) -> None:
    with pytest.raises(TraceError) as error:
        load(write(tmp_path / "t", metadata, b"x"))
    assert error.value.message == f"cannot read `{tmp_path / 't' / 'metadata'}`: {words}"


def test_packets_have_the_uuid_of_the_metadata_and_not_of_the_trace(tmp_path: Path) -> None:
    blob = {"type": "static-length-blob", "length": 16, "roles": ["metadata-stream-uuid"]}
    metadata = "".join(
        f"\x1e{json.dumps(one)}\n"
        for one in (
            {"type": "preamble", "version": 2, "uuid": list(range(16))},
            {
                "type": "trace-class",
                "uid": "78f376a3-dff9-44d9-a37b-dca9ccf8c5ac",
                "packet-header-field-class": struct(("uuid", blob)),
            },
            {"type": "data-stream-class"},
            {"type": "event-record-class", "name": "e", "payload-field-class": struct(("a", uint(8)))},
        )
    )
    trace = load(write(tmp_path / "t", metadata, bytes(range(16)) + b"\x07", bytes(range(1, 17)) + b"\x08"))
    assert [row["a"] for row in rows(trace)] == [7, 8]
    assert notes(trace) == {"packets have another UUID than the metadata": 1}


def test_structures_nested_without_end_are_refused(tmp_path: Path) -> None:
    nested: Any = uint(8)
    for _ in range(100):
        nested = struct(("a", nested))
    with pytest.raises(TraceError, match="field classes are nested more than 48 deep"):
        load(write(tmp_path / "t", payload(("a", nested)), b"x"))


def test_aliases_that_double_each_other_are_refused(tmp_path: Path) -> None:
    doubled = [
        {"type": "field-class-alias", "name": f"d{n}",
         "field-class": struct(*((side, uint(8) if n == 0 else f"d{n - 1}") for side in ("l", "r")))}
        for n in range(30)
    ]  # fmt: skip
    metadata = fragments(
        *doubled, {"type": "trace-class"}, {"type": "data-stream-class"},
        {"type": "event-record-class", "name": "e", "payload-field-class": "d29"},
    )  # fmt: skip
    with pytest.raises(TraceError, match="a structure has more than 65536 fields"):
        load(write(tmp_path / "t", metadata, b"x"))
