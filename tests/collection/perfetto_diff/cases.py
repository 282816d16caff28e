"""Read Perfetto's cases from the collection, and from the files beside this one how each is asked of dctv."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
REASONS: dict[str, str] = tomllib.loads((HERE / "reasons.toml").read_text())
"""Why a case cannot be asked, by a short name."""
MACROS: dict[str, str] = tomllib.loads((HERE / "macros.toml").read_text())
"""What stands for `{name}` in queries."""


@dataclass(frozen=True, slots=True)
class Case:
    """One of Perfetto's own cases: a trace, a query in PerfettoSQL and the CSV it answers."""

    name: str
    area: str
    trace: str
    query: str
    expected: str


@dataclass(frozen=True, slots=True)
class Entry:
    """What becomes of a case here."""

    name: str
    area: str
    query: str = ""
    """Our query, with `{macros}`; `;;` separates statements."""
    design: str = ""
    """The heading of docs/explanation/perfetto.md that says why the answers differ."""
    differs: dict[str, Any] = field(default_factory=dict)
    """How they differ: `rows`, the numbers of rows that only Perfetto and only dctv has, or `columns` by position."""
    pending: str = ""
    """The finding because of which the answers differ today."""
    error: str = ""
    """A part of the error with which both refuse the trace."""
    missing: str = ""
    """The reason why the case cannot be asked."""

    @property
    def status(self) -> str:
        """Return `equal`, `design`, `pending` or `missing`."""
        return next((kind for kind in ("missing", "pending", "design") if getattr(self, kind)), "equal")


@cache
def entries() -> dict[str, Entry]:
    """Return what the files here say, by the names of cases.

    Raises:
        ValueError: a case stands there twice, or with an unknown reason.
    """
    found: dict[str, Entry] = {}
    for path in sorted((HERE / "areas").glob("*.toml")):
        text = tomllib.loads(path.read_text())
        area = path.stem.replace("__", "/").replace("_", "/", 1)
        listed = [Entry(name, area, **what) for name, what in text.get("case", {}).items()]
        for reason, names in text.get("missing", {}).items():
            if reason not in REASONS:
                raise ValueError(f"{path.name}: the reason `{reason}` is not in reasons.toml")
            listed += [Entry(name, area, missing=reason) for name in names]
        for entry in listed:
            if entry.name in found:
                raise ValueError(f"{path.name}: `{entry.name}` stands there twice")
            found[entry.name] = entry
    return found


def perfetto_cases(folder: Path) -> dict[str, Case]:
    """Return Perfetto's cases by name."""
    listed = json.loads((folder / "cases.json").read_text())
    names = ("name", "area", "trace", "query", "expected")
    return {one["name"]: Case(**{name: one[name] or "" for name in names}) for one in listed}
