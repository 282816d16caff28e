"""Reads the standard library: SQL files whose path is their name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from dctv import resources
from dctv.errors import Source
from dctv.record import record
from dctv.syntax import ast
from dctv.syntax.parse import parse_select


@record
class Module:
    """One view or function of the standard library."""

    parts: tuple[str, ...]
    """Its name below the mount: `scheduler`, `timeslices_p_cpu`."""
    formats: tuple[str, ...]
    """Names of the readers whose traces get it."""
    doc: str
    """What its comments say of it as a whole."""
    columns: Mapping[str, str]
    """What its columns hold, by name."""
    source: Source
    parameters: tuple[tuple[str, str | None, str], ...] = ()
    """What it is called with, if it is a function: names, defaults as they are written or None, and what they mean.

    In its text each is a bind parameter `:name`.
    """

    @property
    def summary(self) -> str:
        """The beginning of its comments, up to the first full stop or colon."""
        return re.split(r"[.:](?:\s|$)", self.doc, maxsplit=1)[0]

    def select(self) -> ast.Select:
        """Parse its text."""
        return _parsed(self.source)


@cache
def _parsed(source: Source) -> ast.Select:
    return parse_select(source)


@cache
def modules() -> tuple[Module, ...]:
    """Return all modules, by name."""
    root = resources.root() / "stdlib"
    return tuple(_read(path, root) for path in sorted(root.rglob("*.sql")))


def _read(path: Path, root: Path) -> Module:
    """Read a module: sentences, formats, parameters and columns as comments, then the select."""
    text = path.read_text(encoding="utf-8")
    relative = path.relative_to(root)
    doc: list[str] = []
    formats: tuple[str, ...] = ()
    columns: dict[str, str] = {}
    parameters: list[tuple[str, str | None, str]] = []
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        comment = line[2:].strip()
        if comment.startswith("formats:"):
            formats = tuple(f.strip() for f in comment.removeprefix("formats:").split(","))
        elif comment.startswith("column "):
            column, _, what = comment.removeprefix("column ").partition(":")
            columns[column.strip()] = what.strip()
        elif comment.startswith("parameter "):
            declared, _, what = comment.removeprefix("parameter ").partition(":")
            name, given, default = declared.partition("=")
            parameters.append((name.strip(), default.strip() if given else None, what.strip()))
        else:
            doc.append(comment)
    source = Source(f"stdlib/{relative.as_posix()}", text)
    return Module(relative.with_suffix("").parts, formats, " ".join(doc), columns, source, tuple(parameters))
