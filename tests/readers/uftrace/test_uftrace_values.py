"""Arguments, results and events of uftrace records, as uftrace shows them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from dctv.readers.uftrace_files.enums import read_enums
from dctv.readers.uftrace_files.specs import parse_value
from tests.readers.uftrace.uftrace_directory import (
    BASE,
    EXE,
    Directory,
    calls,
    event,
    load,
    notes,
    padded,
    record,
    rows,
    text,
)

ENUMS = "enumauto:enum mode { RD, WR = 0x4, BOTH = 010 };"


def one_call(
    folder: Path, argspec: Sequence[str], data: bytes | None, result: bytes | None = None
) -> tuple[str, str | None]:
    """Arguments and result of one call of `a`."""
    steps = ((100, "main"), (110, "a", data), (120, None, result), (130, "b"), (140, None), (150, None))
    features = ["argument", "retval", "auto-args"]
    trace = load(Directory({1: calls(*steps)}, argspec, features).write(folder / "d"))
    assert [row["name"] for row in rows(trace)] == ["main", "a", "b"]
    (found,) = [row for row in rows(trace) if row["name"] == "a"]
    assert not trace.diagnostics
    return found["args"], found["retval"]


@pytest.mark.parametrize(
    ("spec", "data", "shown"),
    [
        ("arg1", struct.pack("<q", 5), "5"),
        ("arg1", struct.pack("<q", -5), "-5"),
        ("arg1", struct.pack("<q", 100_001), "0x186a1"),
        ("arg1", struct.pack("<q", -100_001), "0xfffffffffffe795f"),
        ("arg1", struct.pack("<q", 0xFFFFFFFE), "-2"),
        ("arg1/d32", struct.pack("<i", -1), "-1"),
        ("arg1/d16", struct.pack("<hxx", -1), "-1"),
        ("arg1/i8", struct.pack("<bxxx", -7), "-7"),
        ("arg1/i64", struct.pack("<q", 80_000_000_000), "80000000000"),
        ("arg1/u", struct.pack("<Q", 100_000), "100000"),
        ("arg1/u32", struct.pack("<I", 100_001), "0x186a1"),
        ("arg1/x", struct.pack("<Q", 0), "0"),
        ("arg1/x32", struct.pack("<I", 0xABCD), "0xabcd"),
        ("arg1/o16", struct.pack("<Hxx", 8), "010"),
        ("arg1/o", struct.pack("<Q", 0), "0"),
        ("arg1/c", b"a\xee\xee\xee", "'a'"),
        ("arg1/c", b"\n\xee\xee\xee", "'\\n'"),
        ("fparg1", struct.pack("<d", 10), "10.000000"),
        ("fparg1/32", struct.pack("<f", -0.5), "-0.500000"),
        ("fparg1/80", b"\0\0\0\0\0\0\0\xc0\0\x40" + b"\xee\xee", "3.000000"),
        ("arg1/f64%xmm0", struct.pack("<d", float("inf")), "inf"),
        ("arg1/s", text(b"hello"), '"hello"'),
        ("arg1/s", text(b""), '""'),
        ("arg1/s", text(b"NULL"), '"NULL"'),
        ("arg1/s", text(b"\xff\xff\xff\xff"), "NULL"),
        ("arg1/s", text("größe".encode()), '"größe"'),
        ("arg1/s", text(b"a\nb"), '"a\\nb"'),
        ("arg1/S", text(b"std"), '"std"s'),
        ("arg1/p", struct.pack("<Q", 0), "0"),
        ("arg1/p", struct.pack("<Q", 0x7FF0), "0x7ff0"),
        ("arg1/p", struct.pack("<Q", BASE + 0x1200), "&b"),
        ("arg1/e:mode", struct.pack("<Q", 4), "WR"),
        ("arg1/e:mode", struct.pack("<Q", 12), "BOTH|WR"),
        ("arg1/e:mode", struct.pack("<Q", 5), "WR|RD+0x1"),
        ("arg1/e:none", struct.pack("<Q", 3), "3"),
        ("arg1/t11:Option%stack+1", b"x" * 11 + b"\xee", "Option{...}"),
        ("arg1/t4:<lambda", b"xxxx", "{...}"),
        ("arg1/t0:Tag%stack+3,arg2", struct.pack("<q", 1), "Tag{}, 1"),
        ("arg1/s,arg2/i32,arg3/s", text(b"one") + padded(struct.pack("<i", 2)) + text(b"three"), '"one", 2, "three"'),
    ],
)
def test_arguments(tmp_path: Path, spec: str, data: bytes, shown: str) -> None:
    assert one_call(tmp_path, [f"argspec:a@{spec}", ENUMS], data) == (f"({shown})", None)


def decimal(mantissa: int, exponent: int) -> str:
    """A number as C prints it with six decimals: rounded to even."""
    millionths = round(Fraction(mantissa) * Fraction(2) ** (exponent - 16383 - 63) * 10**6)
    return f"{Decimal(millionths // 10**6):f}.{millionths % 10**6:06}"


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize(
    ("mantissa", "exponent"),
    [
        (2**64 - 1, 0x7FFE),
        (2**63 + 12345678901234567, 0x6F00),
        (2**63, 16383 + 63),
        (2**64 - 1, 16383 + 64),
        (0xDBA953B4D6D6F1E7, 16383 + 56),
        (0xCCCCCCCCCCCCCCCD, 16383 - 4),
        (2**63 + 2**46, 16383 + 10),
        (3 * 2**62, 16383 - 21),
        (2**63, 16383 - 70),
        (1, 0),
        (0, 0),
    ],
)
def test_long_doubles_keep_all_their_digits(tmp_path: Path, mantissa: int, exponent: int, *, negative: bool) -> None:
    data = struct.pack("<QH", mantissa, exponent | (0x8000 if negative else 0)) + b"\xee\xee"
    shown = ("-" if negative else "") + decimal(mantissa, exponent)
    assert one_call(tmp_path, ["argspec:a@fparg1/80"], data) == (f"({shown})", None)


@pytest.mark.parametrize(("mantissa", "shown"), [(2**63, "inf"), (3 << 62, "nan")])
def test_long_doubles_that_are_no_numbers(tmp_path: Path, mantissa: int, shown: str) -> None:
    for sign, top in (("", 0x7FFF), ("-", 0xFFFF)):
        data = struct.pack("<QH", mantissa, top) + b"\xee\xee"
        assert one_call(tmp_path, ["argspec:a@fparg1/80"], data) == (f"({sign}{shown})", None)


def test_results(tmp_path: Path) -> None:
    found = one_call(tmp_path, ["argspec:a@arg1/s", "retspec:a@retval/i32"], text(b"x"), struct.pack("<i", -9))
    assert found == ('("x")', "-9")


def test_old_specifications_have_results_among_arguments(tmp_path: Path) -> None:
    found = one_call(tmp_path, ["argspec:a@arg1/i32,retval/s"], struct.pack("<i", 3), text(b"no"))
    assert found == ("(3)", '"no"')


def test_patterns(tmp_path: Path) -> None:
    assert one_call(tmp_path, ["argspec:^[ab]$@arg1/i32"], struct.pack("<i", 3)) == ("(3)", None)


def test_exact_names_win_over_patterns(tmp_path: Path) -> None:
    found = one_call(tmp_path, ["argspec:a@arg1/i32;^a@arg1/s,arg2/i32"], struct.pack("<ii", 3, 4))
    assert found == ("(3, 4)", None)


def test_automatic_arguments(tmp_path: Path) -> None:
    argspec = ["argauto:a@arg1/s;malloc@arg1/u", "retauto:a@retval/p", "auto-args:1"]
    assert one_call(tmp_path, argspec, text(b"x"), struct.pack("<Q", 16)) == ('("x")', "0x10")


def test_debug_information_wins_over_the_automatic(tmp_path: Path) -> None:
    steps = ((100, "a", struct.pack("<q", 4)), (110, None, struct.pack("<q", 1)))
    features = ["argument", "retval", "auto-args", "debug-info"]
    argspec = ["argauto:a@arg1/s", "retauto:a@retval/s", "auto-args:1"]
    debug = (
        f"# path name: {EXE}\nE: enum kind {{ONE,TWO,FOUR=4,}}\nF: 1100 a\nL: 3 a.c\nA: @arg1/e:kind%rdi\nR: @retval\n"
    )
    trace = load(Directory({1: calls(*steps)}, argspec, features, files={"prog.dbg": debug}).write(tmp_path / "d"))
    assert rows(trace, "call", "args", "retval") == [("(FOUR)", "1")]


def test_data_of_unknown_layout_are_skipped_and_counted(tmp_path: Path) -> None:
    steps = ((100, "main"), (110, "a", b"\0" * 24), (120, None, b"12345678"), (130, "b"), (140, None), (150, None))
    trace = load(Directory({1: calls(*steps)}).write(tmp_path / "d"))
    assert rows(trace, "call", "name", "_ts", "dur", "args") == [
        ("main", 100, 50, None),
        ("a", 110, 10, None),
        ("b", 130, 10, None),
    ]
    assert notes(trace) == {"data of unknown layout": 2}


def test_events(tmp_path: Path) -> None:
    data = record(100, 0, "main") + event(101, 100001, struct.pack("<3Q", 1, 2, 3))
    data += event(102, 100004, struct.pack("<2q", -1, 5)) + event(103, 100011, struct.pack("<i", 6))
    data += event(104, 100012, struct.pack("<Qi", BASE + 0x1100, -4)) + event(105, 1_000_001)
    data += event(106, 1_000_002) + event(107, 100013, struct.pack("<Q", 77)) + record(120, 1, "main")
    directory = Directory({1: data}, features=["event"], files={"events.txt": "EVENT: 1000001 prov.x:name\n"})
    trace = load(directory.write(tmp_path / "d"))
    assert rows(trace, "read:proc/statm", "_ts", "vmsize", "vmrss", "shared", "call") == [(101, 1, 2, 3, 1)]
    assert rows(trace, "diff:page-fault", "major", "minor") == [(-1, 5)]
    assert rows(trace, "watch:cpu", "cpu") == [(6,)]
    assert rows(trace, "watch:var", "variable", "addr", "value") == [("a", BASE + 0x1100, 0xFFFFFFFC)]
    assert rows(trace, "prov_x:name", "_ts", "line") == [(105, 6)]
    assert rows(trace, "user_event:1000002", "_ts") == [(106,)]
    assert rows(trace, "callsite", "addr") == [(77,)]


def test_messages_of_other_programs(tmp_path: Path) -> None:
    lines = "# remark\n\n0.000000105 first  message \n0.000000106\nx y\n0.000000107 second\n"
    directory = Directory({1: calls((100, "main"), (120, None))}, files={"extern.dat": lines})
    trace = load(directory.write(tmp_path / "d"))
    assert rows(trace, "external-data", "_ts", "message") == [(105, "first  message"), (107, "second")]
    assert notes(trace) == {"lines are no messages": 2}


def test_enums() -> None:
    found = dict(read_enums("enum a { X, Y = 0x10, Z, };enum b {P = -1,Q,}; rubbish"))
    assert found == {"a": [("Z", 17), ("Y", 16), ("X", 0)], "b": [("Q", 0), ("P", -1)]}


@pytest.mark.parametrize("bad", ["", "arg", "argx", "arg1/q", "arg1/i33", "fparg1/7", "arg1/e:", "arg1!"])
def test_invalid_specifications_are_refused(bad: str) -> None:
    assert parse_value(bad, wide=True) is None
