"""Modules of the kernels see only those below them, and no new ones see each other in a circle."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tests.house.rust_modules import cycles, modules, siblings
from tests.house.tree import ROOT

SOURCES = ROOT / "kernels" / "src"
RULES = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["dctv-kernels"]
FLOORS = [set(floor.split(" | ")) for floor in RULES["floors"]]


def test_every_module_has_one_floor() -> None:
    standing = [name for floor in FLOORS for name in floor]
    assert sorted(standing) == sorted({module[0] for module in modules(SOURCES) if module})


def test_modules_see_only_those_below_them() -> None:
    floor_of = {name: number for number, floor in enumerate(FLOORS) for name in floor}
    edges = siblings(modules(SOURCES))[()]
    assert edges["chrome"] >= {"json", "rows"}
    upward = {
        f"{name} -> {other}"
        for name, others in edges.items()
        for other in others
        if name in floor_of and other in floor_of and floor_of[other] <= floor_of[name]
    }
    assert upward == set()


def test_no_new_modules_see_each_other_in_a_circle() -> None:
    """Those that do stand in a list, which may only become shorter."""
    known = {tuple(place.split("::")): [set(one) for one in found] for place, found in RULES["cycles"].items()}
    new = {
        "::".join(place): found
        for place, edges in siblings(modules(SOURCES)).items()
        for found in cycles(edges)
        if not any(found <= one for one in known.get(place, []))
    }
    assert new == {}


def test_named_modules_exist(tmp_path: Path) -> None:
    texts = {
        "lib": "mod a;\nmod b;",
        "a/mod": "use crate::b::{self, c::{D, E as F}};\nmod x;\nmod y;\n// crate::e::G",
        "a/x": "use super::y::Z;\nfn f() { crate::e::g() }",
        "a/y": "use super::super::d;\nfn f() { super::x::g() }\n#[cfg(test)]\nmod tests { use crate::f; }",
        "b/mod": "mod c;",
        "b/c": "",
        "d": "use arrow::e;",
        "e": "use crate::d as other;",
        "f": "",
    }
    for name, text in texts.items():
        path = tmp_path / f"{name}.rs"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    found = siblings(modules(tmp_path))
    assert found == {(): {"a": {"b", "d", "e"}, "e": {"d"}}, ("a",): {"x": {"y"}, "y": {"x"}}}
    assert cycles(found["a",]) == [{"x", "y"}]
    assert cycles(found[()]) == []
