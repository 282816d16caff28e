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
    """One view of the standard library."""

    parts: tuple[str, ...]
    """Its name below the mount: `scheduler`, `timeslices_p_cpu`."""
    formats: tuple[str, ...]
    """Names of the readers whose traces get it."""
    doc: str
    """What its comments say of it as a whole."""
    columns: Mapping[str, str]
    """What its columns hold, by name."""
    source: Source

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
    """Read a module: `-- sentence`, `-- formats: a, b`, `-- column name: sentence`, then the select."""
    text = path.read_text(encoding="utf-8")
    relative = path.relative_to(root)
    doc: list[str] = []
    formats: tuple[str, ...] = ()
    columns: dict[str, str] = {}
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        comment = line[2:].strip()
        if comment.startswith("formats:"):
            formats = tuple(f.strip() for f in comment.removeprefix("formats:").split(","))
        elif comment.startswith("column "):
            column, _, what = comment.removeprefix("column ").partition(":")
            columns[column.strip()] = what.strip()
        else:
            doc.append(comment)
    return Module(
        relative.with_suffix("").parts, formats, " ".join(doc), columns, Source(f"stdlib/{relative.as_posix()}", text)
    )
