"""A shelf holds the records its modules define, one by one or in tuples, and refuses two of a name."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path

import pytest

from dctv.contracts.shelf import scan


@dataclass(frozen=True, slots=True)
class Record:
    name: str


def shelf(folder: Path, monkeypatch: pytest.MonkeyPatch, **modules: str) -> dict[str, Record]:
    """Scan a package of these modules; its name is that of the temporary folder, so that no two tests share one."""
    package = folder / f"shelf_{folder.name}"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for name, text in modules.items():
        (package / f"{name}.py").write_text(f"from {__name__} import Record\n{text}")
    monkeypatch.syspath_prepend(folder)
    return scan(importlib.import_module(package.name), Record)


def test_single_records_and_tuples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = shelf(
        tmp_path, monkeypatch, a="ONE = Record('one')", b="RULES = (Record('two'), Record('three'), 4)\nOTHER = 'x'"
    )
    assert list(found) == ["one", "two", "three"]


def test_the_same_record_twice_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = shelf(tmp_path, monkeypatch, a="ONE = Record('one')\nRULES = (ONE,)")
    assert list(found) == ["one"]


def test_two_of_a_name_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError, match="are named one"):
        shelf(tmp_path, monkeypatch, a="ONE = Record('one')", b="RULES = (Record('one'),)")
