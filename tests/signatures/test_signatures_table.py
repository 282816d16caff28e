"""The table of signatures: matches the installed engine, and loads quickly."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from dctv import resources
from dctv.signatures import table
from dctv.signatures.types import member, parse


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(resources, "generated", lambda: tmp_path)
    table.packed.cache_clear()
    yield tmp_path
    table.packed.cache_clear()


def test_a_written_table_loads_back(folder: Path) -> None:
    written = json.loads(table.write_signatures(folder).read_bytes())
    assert written["engine"] == duckdb.__version__
    assert table.packed() == written["functions"]
    assert [path.name for path in folder.iterdir()] == [table.FILE]


def test_a_signature_is_read_from_its_text() -> None:
    (one,) = table.signatures("concat_ws")
    assert ([str(p) for p in one.parameters], str(one.more), str(one.result)) == (["VARCHAR", "ANY"], "ANY", "VARCHAR")
    assert [one.accepts_count(count) for count in (1, 2, 9)] == [False, True, True]
    assert str(one.parameter(5)) == "ANY"


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"engine": "0.1", "functions": {"sum": "=INTEGER"}}'])
def test_a_file_of_another_engine_version_is_not_used(folder: Path, text: str) -> None:
    (folder / table.FILE).write_text(text)
    assert "HUGEINT=HUGEINT" in table.packed()["sum"]


def test_without_a_file_signatures_come_from_the_engine(folder: Path) -> None:
    assert not list(folder.iterdir())
    assert "HUGEINT=HUGEINT" in table.packed()["sum"]


def test_members_are_found_by_name() -> None:
    struct = parse('STRUCT(a INTEGER, "b c" VARCHAR)')
    assert [str(member(struct, name)) for name in ("A", "b C", "c")] == ["INTEGER", "VARCHAR", "None"]
    assert member(parse("INTEGER"), "a") is None
