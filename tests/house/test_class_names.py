"""No two public classes of one name, but for nodes that are named through their module, as `ast.Select` is."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.house.tree import files, short

QUALIFIED = {
    "dctv.syntax": "the syntax tree has the forms of the plan as they were written: `ast.Select` becomes a `Select`",
    "dctv.plan.predicate": "what an index can prove has the connectives of expressions: `p.And` is part of an `And`",
}
"""Modules and packages whose classes may share names with others, and why; outside they are named through a module."""


def module(path: Path) -> str:
    return short(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def is_within(name: str, parent: str) -> bool:
    return name == parent or name.startswith(f"{parent}.")


def owner(name: str) -> str:
    """The name space of a module: the qualified package that it is in, or all of dctv."""
    return next((one for one in QUALIFIED if is_within(name, one)), "dctv")


@cache
def homes() -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for path in files(".py", under="dctv"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(module(path))
    assert len(found) > 500
    return found


def clashes(found: list[str]) -> bool:
    return len({owner(one) for one in found}) < len(found)


def test_no_two_classes_have_one_name() -> None:
    assert {name: found for name, found in homes().items() if clashes(found)} == {}


def imported(path: Path, package: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and is_within(node.module, package):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("package", QUALIFIED)
def test_shared_names_are_used_with_their_module(package: str) -> None:
    shared = {name for name, found in homes().items() if len(found) > 1 and package in map(owner, found)}
    assert shared
    users = [p for p in files(".py", under="dctv") if not is_within(module(p), package)]
    found = {short(path): sorted(shared & set(imported(path, package))) for path in users}
    assert {path: names for path, names in found.items() if names} == {}


def test_a_second_class_of_a_name_is_found() -> None:
    assert clashes(["dctv.errors", "dctv.plan.source"])
    assert clashes(["dctv.syntax.filter", "dctv.syntax.literals"])
    assert not clashes(["dctv.syntax.ast", "dctv.plan.queries"])
