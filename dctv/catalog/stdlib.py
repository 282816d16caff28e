"""Read the standard library: SQL files named by their paths, expected events and tables, and shared parts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

from dctv import resources
from dctv.catalog.expected import ExpectedEvent, expected_events
from dctv.catalog.namespace import Materialized
from dctv.errors import SourceText
from dctv.plan.build import as_type, select, where
from dctv.plan.expressions import FALSE, NULL, Column
from dctv.plan.nodes import Plan, Relation, column_types, physical_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Item
from dctv.record import record, replace
from dctv.syntax import ast
from dctv.syntax.parse import parse_select
from dctv.types.schema import TS, ColumnType, Kind, Schema
from dctv.types.unit import NO_UNIT
from dctv.types.units import parse_unit
from dctv.types.values import engine_type

EVERY = "*"
"""Matches all formats."""
_PARTS = "_parts"


@record
class RowsOf:
    """How to find the rows of tracks in the view that they show."""

    view: str
    by: tuple[str, ...]
    """Columns of both that identify a row, together with its time."""


@record
class LibraryModule:
    """A view or function of the standard library."""

    parts: tuple[str, ...]
    """Its name below the mount: `scheduler`, `timeslices_p_cpu`."""
    formats: tuple[str, ...]
    """Names of the readers for which it exists; `*` for all."""
    doc: str
    """The description in its comments."""
    columns: Mapping[str, str]
    """Descriptions of its columns, by name."""
    source: SourceText
    like: str = ""
    """The view that it shares columns with: `-- columns of: scheduler.timeslices_p_cpu`. Row keys come after them."""
    rows_of: RowsOf | None = None
    """For timeline tracks, the view with their rows: `-- rows of: block.requests by line, device`."""
    parameters: tuple[tuple[str, str | None, str], ...] = ()
    """Parameters, if it is a function: names, defaults as written or None, and descriptions.

    In its text each one is a bind parameter `:name`.
    """
    times: frozenset[str] = frozenset()
    """Parameters that are times, `-- parameter name ns: ...`."""
    positive: frozenset[str] = frozenset()
    """Those that must be longer than 0, `-- parameter name positive ns: ...`."""
    key: tuple[str, ...] = ()
    """Columns of which no two rows have the same values: `-- key: host, pid`."""
    materialized: Materialized = ""
    """Where its rows are stored, so that they are computed once: `-- materialized: session` or `index`."""

    @property
    def summary(self) -> str:
        """The beginning of its description, up to the first full stop or colon."""
        return re.split(r"[.:](?:\s|$)", self.doc, maxsplit=1)[0]

    def covers(self, reader: str) -> bool:
        """Whether it exists for traces of a format."""
        return reader in self.formats or EVERY in self.formats

    def select(self) -> ast.Select:
        """Parse its text."""
        return _parsed(self.source)


@cache
def _parsed(source: SourceText) -> ast.Select:
    return parse_select(source)


@record(eq=False)
class StandardLibrary:
    """The standard library; a singleton, so caches may use its identity as key."""

    modules: tuple[LibraryModule, ...]
    """Its views, by name."""
    sources: Mapping[str, tuple[LibraryModule, ...]]
    """The views that provide the rows of each part; each for some formats."""
    parts: Mapping[str, Schema]
    """The schemas of parts, which are the same for all formats."""
    unique: Mapping[str, tuple[str, ...]]
    """The columns that tell the rows of a part apart."""
    events: Mapping[str, ExpectedEvent]
    """Raw events that the views read."""
    tables: Mapping[str, Expected]
    """Other tables of traces that the views read."""

    def views(self, reader: str) -> list[LibraryModule]:
        """Return the views without parameters that traces of a format have."""
        return [one for one in self.modules if one.covers(reader) and not one.parameters]


@cache
def library() -> StandardLibrary:
    """Read the standard library, without parsing the views' queries."""
    root = resources.root() / "stdlib"
    found = _with_columns([_read(path, root) for path in sorted(root.rglob("*.sql"))])
    views = tuple(one for one in found if one.parts[0] != _PARTS)
    parts = {name: Schema(_kind(columns), columns) for name, columns in _columns("parts").items()}
    sources = {
        name: tuple(one for one in found if one.parts[0] == _PARTS and one.parts[1:-1] == (name,)) for name in parts
    }
    tables = {name: Expected(name, Schema(Kind.REGULAR, columns)) for name, columns in _columns("tables").items()}
    return StandardLibrary(views, sources, parts, _unique("parts"), expected_events(), tables)


def _with_columns(found: Sequence[LibraryModule]) -> list[LibraryModule]:
    """Add descriptions of columns to views that share another view's columns."""
    by_name = {".".join(one.parts): one for one in found}

    def columns(one: LibraryModule) -> Mapping[str, str]:
        own = dict(by_name[one.like].columns if one.like else one.columns)
        if one.rows_of is not None:
            shown = by_name[one.rows_of.view].columns
            own.update((name, shown[name]) for name in one.rows_of.by if name not in own)
        return own

    return [replace(one, columns=columns(one)) for one in found]


def modules() -> tuple[LibraryModule, ...]:
    """Return all views, by name."""
    return library().modules


def _read(path: Path, root: Path) -> LibraryModule:
    """Read a module: description, formats, parameters and columns as comments, then the select."""
    text = path.read_text(encoding="utf-8")
    relative = path.relative_to(root)
    doc: list[str] = []
    formats: tuple[str, ...] = ()
    columns: dict[str, str] = {}
    parameters: list[tuple[str, str | None, str]] = []
    times: set[str] = set()
    positive: set[str] = set()
    like = ""
    rows_of = None
    key: tuple[str, ...] = ()
    materialized: Materialized = ""
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        comment = line[2:].strip()
        if comment.startswith("formats:"):
            formats = tuple(f.strip() for f in comment.removeprefix("formats:").split(","))
        elif comment.startswith("column "):
            column, _, what = comment.removeprefix("column ").partition(":")
            columns[column.strip()] = what.strip()
        elif comment.startswith("columns of:"):
            like = comment.removeprefix("columns of:").strip()
        elif comment.startswith("rows of:"):
            view, _, by = comment.removeprefix("rows of:").partition(" by ")
            rows_of = RowsOf(view.strip(), tuple(one.strip() for one in by.split(",")))
        elif comment.startswith("materialized:"):
            materialized = cast("Materialized", comment.removeprefix("materialized:").strip())
        elif comment.startswith("key:"):
            key = tuple(one.strip() for one in comment.removeprefix("key:").split(","))
        elif comment.startswith("parameter "):
            declared, _, what = comment.removeprefix("parameter ").partition(":")
            name, given, default = declared.partition("=")
            name, *marks = name.split()
            parameters.append((name, default.strip() if given else None, what.strip()))
            times |= {name} if "ns" in marks else set()
            positive |= {name} if "positive" in marks else set()
        else:
            doc.append(comment)
    source = SourceText(f"stdlib/{relative.as_posix()}", text)
    return LibraryModule(
        relative.with_suffix("").parts,
        formats,
        " ".join(doc),
        columns,
        source,
        like,
        rows_of,
        tuple(parameters),
        frozenset(times),
        frozenset(positive),
        key,
        materialized,
    )


@record
class Expected:
    """A table that the standard library reads: it has these columns even if a trace lacks them."""

    name: str
    schema: Schema

    def plan(self, scan: Plan | None) -> Plan:
        """Return the table with the expected columns: cast from the trace's, NULL where it has none."""
        return cast_to(self.schema, scan)


def cast_to(schema: Schema, plan: Plan | None) -> Relation:
    """Return a plan with the columns of a schema: cast from those with the same name, NULL where there is none."""
    found = {} if plan is None else dict(zip(plan.schema.names, physical_names(plan.schema), strict=True))
    types = {} if plan is None else column_types(plan.schema)
    items = []
    for one in schema.columns:
        value = Column(found[one.name]) if one.name in found else NULL
        items.append(Item(as_type(value, one.type, types, lenient=True), one.name))
    timed = schema.kind is not Kind.REGULAR
    if plan is None:
        return Relation(schema, order=RowOrder.TIME if timed else RowOrder.STABLE, query=where(select(*items), FALSE))
    query, leaves = select(*items, source="event"), (("event", plan),)
    return Relation(
        schema, order=RowOrder.TIME if timed and plan.ordered else RowOrder.STABLE, query=query, leaves=leaves
    )


def _kind(columns: tuple[ColumnType, ...]) -> Kind:
    return Kind.EVENT if columns[0].name == TS else Kind.REGULAR


def _columns(file: str) -> Mapping[str, tuple[ColumnType, ...]]:
    """Read a file of tables by name, each with entries column = "TYPE" or "TYPE unit"."""
    return {
        name: tuple(_column(column, text) for column, text in table.items() if isinstance(text, str))
        for name, table in _tables(file).items()
    }


def _unique(file: str) -> Mapping[str, tuple[str, ...]]:
    """Return the entries unique = ["column"] of such a file."""
    return {name: tuple(table["unique"]) for name, table in _tables(file).items() if "unique" in table}


def _tables(file: str) -> dict[str, dict[str, Any]]:
    import tomllib

    return tomllib.loads((resources.root() / "stdlib" / f"{file}.toml").read_text(encoding="utf-8"))


def _column(name: str, text: str) -> ColumnType:
    kind, _, unit = text.partition(" ")
    return ColumnType(name, engine_type(kind), parse_unit(unit) if unit else NO_UNIT)
