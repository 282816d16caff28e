"""Reads the standard library: SQL files whose path is their name, and the events that they expect."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from sqlglot import exp

from dctv import resources
from dctv.errors import Source
from dctv.plan.nodes import Plan, Relation, physical_names
from dctv.record import record
from dctv.syntax import ast
from dctv.syntax.parse import parse_select
from dctv.types.schema import TS, ColumnType, Kind, Schema
from dctv.types.units import NO_UNIT, parse_unit
from dctv.types.values import engine_type


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


@record
class ExpectedEvent:
    """An event that the standard library reads: it has these columns even where a trace lacks them."""

    name: str
    columns: tuple[ColumnType, ...]

    def plan(self, scan: Plan | None) -> Plan:
        """Return the event's table with the expected columns: cast from the trace's, NULL where there is none."""
        schema = Schema(Kind.EVENT, (ColumnType(TS, "BIGINT", parse_unit("ns")), *self.columns))
        found = {} if scan is None else dict(zip(scan.schema.names, physical_names(scan.schema), strict=True))
        columns: list[exp.Expr] = []
        for column in schema.columns:
            value: exp.Expr = exp.column(found[column.name], quoted=True) if column.name in found else exp.Null()
            cast = exp.TryCast(this=value, to=exp.Var(this=column.type))
            columns.append(exp.Alias(this=cast, alias=exp.to_identifier(column.name, quoted=True)))
        tree = exp.Select(expressions=columns)
        if scan is None:
            return Relation(
                schema, ordered=True, query=tree.where(exp.Boolean(this=False), copy=False), keeps_order=True
            )
        table = exp.Table(this=exp.to_identifier("event", quoted=True))
        return Relation(schema, ordered=True, query=tree.from_(table), leaves=(("event", scan),), keeps_order=True)


@cache
def expected_events() -> Mapping[str, ExpectedEvent]:
    """Return the events of stdlib/events.toml by name: each a table of column = "TYPE" or "TYPE unit"."""
    import tomllib

    path = resources.root() / "stdlib" / "events.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: ExpectedEvent(name, tuple(_column(*item) for item in table.items())) for name, table in data.items()}


def _column(name: str, text: str) -> ColumnType:
    kind, _, unit = text.partition(" ")
    return ColumnType(name, engine_type(kind), parse_unit(unit) if unit else NO_UNIT)
