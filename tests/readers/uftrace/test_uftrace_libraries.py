"""Files of a library that the program loaded by a relative path, with `dlopen`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dctv.readers.uftrace_files.symbols import read_module
from tests.readers.uftrace.uftrace_directory import load, notes, rows

RECORDED = Path(__file__).resolve().parents[2] / "data" / "uftrace" / "late_library"
"""Recorded with `-a`: `./libplug.so` in `libplug.so.sym`, but its whole path in `libplug.so.dbg`."""


def test_arguments_of_a_library_opened_by_a_relative_path() -> None:
    trace = load(RECORDED)
    found = [row for row in rows(trace, "call", "name", "args", "retval") if row[0].startswith("plug_")]
    assert found == [
        ("plug_entry", "(2)", "3"),
        ("plug_leaf", "(0)", "1"),
        ("plug_leaf", "(1)", "2"),
        ("plug_entry", "(3)", "6"),
        ("plug_leaf", "(0)", "1"),
        ("plug_leaf", "(1)", "2"),
        ("plug_leaf", "(2)", "3"),
    ]
    assert "records lost" not in notes(trace)


@pytest.mark.parametrize(
    ("named", "known"),
    [
        ("/usr/lib/x/libplug.so", True),
        ("/usr/lib/libplug.so", True),
        ("/usr/lib/x/libother.so", False),
        ("../libplug.so", False),
    ],
)
def test_debug_information_is_matched_to_its_module(tmp_path: Path, *, named: str, known: bool) -> None:
    """Without build identifiers a relative path may be any whole one that it ends, but no other relative one."""
    symbols = "# path name: ./libplug.so\n0000000000001109 00000010 T plug_leaf\n"
    (tmp_path / "libplug.so.sym").write_text(symbols)
    (tmp_path / "libplug.so.dbg").write_text(f"# path name: {named}\nF: 1109 plug_leaf\nA: @arg1\n")
    module = read_module(tmp_path, "./libplug.so", "")
    assert [symbol[3] for symbol in module.symbols] == ["plug_leaf"]
    assert bool(module.debug.arguments) is known


def test_debug_information_of_another_build_is_not_used(tmp_path: Path) -> None:
    shutil.copytree(RECORDED, tmp_path / "d")
    file = tmp_path / "d" / "libplug.so.dbg"
    file.write_text(file.read_text().replace("# build-id: f3b4", "# build-id: 0000"))
    assert read_module(tmp_path / "d", "./libplug.so", "").debug.arguments == {}
