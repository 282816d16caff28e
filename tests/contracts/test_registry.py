"""A registry holds the records its modules define, one by one or in tuples; a whole scan refuses two of a name."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from dctv.contracts.registry import Registry, scan


@dataclass(frozen=True, slots=True)
class Record:
    name: str


def packed(folder: Path, monkeypatch: pytest.MonkeyPatch, **modules: str) -> ModuleType:
    """Make a package of these modules; its name is that of the temporary folder, so that no two tests share one."""
    package = folder / f"shelf_{folder.name}"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for name, text in modules.items():
        (package / f"{name}.py").write_text(f"from {__name__} import Record\n{text}")
    monkeypatch.syspath_prepend(folder)
    return importlib.import_module(package.name)


def registered(folder: Path, monkeypatch: pytest.MonkeyPatch, **modules: str) -> dict[str, Record]:
    return scan(packed(folder, monkeypatch, **modules), Record)


def test_single_records_and_tuples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = registered(
        tmp_path, monkeypatch, a="ONE = Record('one')", b="RULES = (Record('two'), Record('three'), 4)\nOTHER = 'x'"
    )
    assert list(found) == ["one", "two", "three"]


def test_the_same_record_twice_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = registered(tmp_path, monkeypatch, a="ONE = Record('one')\nRULES = (ONE,)")
    assert list(found) == ["one"]


def test_two_of_a_name_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError, match="are named one"):
        registered(tmp_path, monkeypatch, a="ONE = Record('one')", b="RULES = (Record('one'),)")


def test_a_registry_is_what_a_scan_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = packed(tmp_path, monkeypatch, a="ONE = Record('one')", b="RULES = (Record('two'), Record('three'))")
    found = Registry(package, record=Record)
    assert dict(found) == scan(package, Record)
    assert (list(found), len(found), "four" in found) == (["one", "two", "three"], 3, False)
    with pytest.raises(KeyError):
        found["four"]


def test_a_record_in_two_modules_is_listed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = packed(tmp_path, monkeypatch, a="ONE = Record('one')")
    (tmp_path / package.__name__ / "b.py").write_text("from .a import ONE\n")
    assert list(Registry(package, record=Record)) == ["one"]


def test_modules_behind_what_is_found_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = packed(tmp_path, monkeypatch, a="ONE = Record('one')", b="TWO = Record('two')")
    found = Registry(package, record=Record)
    assert next(iter(found.values())) is found["one"]
    assert f"{package.__name__}.b" not in sys.modules
    assert found["two"].name == "two"
    assert f"{package.__name__}.b" in sys.modules


def test_modules_that_a_text_names_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modules = {"ant": "ONE = Record('one')", "bee": "TWO = Record('two')", "cow": "SIX = Record('six')"}
    package = packed(tmp_path, monkeypatch, **modules)
    found = Registry(package, record=Record)
    assert next(found.named_in("bee.data")).name == "two"
    assert f"{package.__name__}.ant" not in sys.modules
    assert [one.name for one in found.named_in("bee.data")] == ["two", "one", "six"]
    assert [one.name for one in found.named_in("")] == ["one", "two", "six"]
