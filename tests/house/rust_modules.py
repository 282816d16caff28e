"""Find which modules of the kernels name which others, from their sources."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

Module = tuple[str, ...]
"""The names from the crate to the module; of the crate itself, none."""
Edges = Mapping[str, set[str]]
"""Names of siblings, and which others each of them names."""

_COMMENT = re.compile(r"//[^\n]*")
_TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{.*\Z", re.DOTALL)
_USE = re.compile(r"\buse ([^;]+);")
_PATH = re.compile(r"\b(?:crate|super|self)(?:::\w+)+")
_GROUP = re.compile(r"((?:\w+::)*)\{(.*)\}", re.DOTALL)


def modules(sources: Path) -> dict[Module, Path]:
    """Return the modules below a folder and the files that they stand in."""
    found = {}
    for path in sorted(sources.rglob("*.rs")):
        names = path.relative_to(sources).with_suffix("").parts
        found[names[:-1] if names[-1] in {"mod", "lib"} else names] = path
    return found


def siblings(known: Mapping[Module, Path]) -> dict[Module, dict[str, set[str]]]:
    """Return for each module what those within it name of each other, whatever stands within those."""
    found: dict[Module, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for module, path in known.items():
        for other in _named(module, path.read_text(encoding="utf-8"), known):
            same = next((n for n, (a, b) in enumerate(zip(module, other, strict=False)) if a != b), None)
            if same is not None:
                found[module[:same]][module[same]].add(other[same])
    return {parent: dict(edges) for parent, edges in found.items()}


def cycles(edges: Edges) -> list[set[str]]:
    """Return the largest sets of names that all lead to each other."""
    reached = {name: _reached(name, edges) for name in edges}
    found = {frozenset(b for b in reached[a] if a in reached.get(b, ())) for a in edges if a in reached[a]}
    return sorted((set(one) for one in found), key=sorted)


def _reached(name: str, edges: Edges) -> set[str]:
    found: set[str] = set()
    left = [name]
    while left:
        new = edges.get(left.pop(), set()) - found
        found |= new
        left.extend(new)
    return found


def _named(module: Module, text: str, known: Mapping[Module, Path]) -> Iterator[Module]:
    """Return the modules that a text names; its unit tests may name what they like."""
    text = _TESTS.sub("", _COMMENT.sub("", text))
    paths = [path for tree in _USE.findall(text) for path in _paths(tree)]
    paths += [tuple(path.split("::")) for path in _PATH.findall(_USE.sub("", text))]
    for first, *rest in paths:
        if first == "crate":
            yield _longest((), rest, known)
        elif first == "super":
            ups = next((n for n, name in enumerate(rest) if name != "super"), len(rest)) + 1
            yield _longest(module[: len(module) - ups], rest[ups - 1 :], known)
        else:
            yield _longest(module, rest if first == "self" else [first, *rest], known)


def _longest(base: Module, names: list[str], known: Mapping[Module, Path]) -> Module:
    """Follow names as long as they are those of modules."""
    for name in names:
        if (*base, name) not in known:
            break
        base = (*base, name)
    return base


def _paths(tree: str) -> Iterator[Module]:
    """Return the paths of a `use`: `a::{b, c::d}` has two."""
    for part in _split(tree):
        group = _GROUP.fullmatch(part)
        if group is None:
            yield tuple(part.split(" as ")[0].split("::"))
        else:
            before = tuple(group[1].removesuffix("::").split("::")) if group[1] else ()
            yield from ((*before, *path) for path in _paths(group[2]))


def _split(tree: str) -> list[str]:
    """Divide a text at commas that stand in no braces."""
    parts, depth = [""], 0
    for letter in tree:
        depth += (letter == "{") - (letter == "}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]
