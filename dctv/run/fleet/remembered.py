"""What is known of the traces of a fleet -> a file, and back for those that are still as they were."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from dctv.contracts.reader import Diagnostic
from dctv.index.location import FLEETS
from dctv.record import record
from dctv.run.fleet.facts import EventDurations, Facts, MountSettings
from dctv.run.fleet.members import FleetMember, is_as_it_was
from dctv.types.schema import ColumnType, Kind, Schema
from dctv.types.units import parse_unit

_VERSION = 3
"""Of the file's form."""


@record
class Memory:
    """A file with what is known of some traces."""

    path: Path

    def recall(self, members: Sequence[FleetMember]) -> dict[str, Facts]:
        """Return what is known of those traces that have not changed, by name."""
        try:
            told = json.loads(self.path.read_text(encoding="utf-8"))
            schemas = [_schema(one) for one in told["schemas"]]
            known = {name: _facts(one, schemas) for name, one in told["traces"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
            # Not there, or of another version, or damaged: traces are looked at again.
            return {}
        found = [(one, known[one.path]) for one in members if one.path in known]
        return {one.name: facts for one, facts in found if is_as_it_was(one, facts.state)}

    def keep(self, members: Sequence[FleetMember], facts: Mapping[str, Facts]) -> None:
        """Write what is known of traces that could be read; where that cannot be written, it is found again."""
        schemas: dict[Schema, int] = {}
        traces = {one.path: _told(facts[one.name], schemas) for one in members if not facts[one.name].error}
        text = json.dumps({"schemas": [_columns(one) for one in schemas], "traces": traces}, separators=(",", ":"))
        made = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            made.write_text(text, encoding="utf-8")
            made.replace(self.path)
        except OSError:
            made.unlink(missing_ok=True)


def memory_of(pattern: str, base: Path | None, way: MountSettings, folder: Path) -> Memory:
    """Return the file for the traces of a pattern, mounted in some way, in the folder of all indexes."""
    from dctv import __version__

    options = sorted((name, repr(value)) for name, value in way.options.items())
    told = [_VERSION, __version__, str((base or Path()).absolute()), pattern, options]
    key = blake2b(json.dumps(told).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return Memory(folder / FLEETS / f"{key}.json")


def _told(facts: Facts, schemas: dict[Schema, int]) -> dict[str, Any]:
    return {
        "format": facts.format,
        "tables": {name: schemas.setdefault(schema, len(schemas)) for name, schema in facts.tables.items()},
        "diagnostics": [[d.file, d.reason, d.count, d.example, d.incomplete] for d in facts.diagnostics],
        "properties": dict(facts.properties),
        "last_ts": facts.last_ts,
        "warnings": list(facts.warnings),
        "counts": facts.counts,
        "durations": None
        if facts.durations is None
        else {name: [one.count, one.total, one.least, one.most] for name, one in facts.durations.items()},
        "state": facts.state,
    }


def _facts(told: Mapping[str, Any], schemas: Sequence[Schema]) -> Facts:
    return Facts(
        told["format"],
        {name: schemas[number] for name, number in told["tables"].items()},
        [Diagnostic(*one) for one in told["diagnostics"]],
        told["properties"],
        told["last_ts"],
        told["warnings"],
        None if told["counts"] is None else {table: _counts(one) for table, one in told["counts"].items()},
        None
        if told["durations"] is None
        else {name: EventDurations(*map(int, one)) for name, one in told["durations"].items()},
        tuple((name, size, changed) for name, size, changed in told["state"]),
    )


def _counts(told: Mapping[str, Any]) -> Mapping[str, int]:
    return {name: int(count) for name, count in told.items()}


def _columns(schema: Schema) -> list[Any]:
    columns = [[one.name, one.type, str(one.unit)] for one in schema.columns]
    return [schema.kind.value, columns, list(schema.partitions)]


def _schema(told: Sequence[Any]) -> Schema:
    kind, columns, partitions = told
    made = (ColumnType(n, t, parse_unit(u)) if u else ColumnType(n, t) for n, t, u in columns)
    return Schema(Kind(kind), tuple(made), tuple(partitions))
