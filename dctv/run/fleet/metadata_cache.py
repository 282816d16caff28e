"""Save the metadata of a fleet's traces to a file, and load that of traces that have not changed."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from dctv.contracts.reader import Diagnostic
from dctv.index.location import FLEETS
from dctv.record import record
from dctv.run.fleet.members import FleetMember, is_as_it_was
from dctv.run.fleet.metadata import EventDurations, MemberMetadata, MountSettings
from dctv.types.schema import ColumnType, Kind, Schema
from dctv.types.units import parse_unit

_VERSION = 5
"""The version of the file's format."""


@record
class Memory:
    """A file with the metadata of some traces."""

    path: Path

    def recall(self, members: Sequence[FleetMember]) -> dict[str, MemberMetadata]:
        """Return the metadata of the traces that have not changed, by name."""
        try:
            stored = json.loads(self.path.read_text(encoding="utf-8"))
            schemas = [_schema(one) for one in stored["schemas"]]
            known = {name: _metadata(one, schemas) for name, one in stored["traces"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
            # Missing, of another version, or damaged: traces are read again.
            return {}
        found = [(one, known[one.path]) for one in members if one.path in known]
        return {one.name: metadata for one, metadata in found if is_as_it_was(one, metadata.state)}

    def keep(self, members: Sequence[FleetMember], metadata: Mapping[str, MemberMetadata]) -> None:
        """Write the metadata of readable traces; if that fails, it will be computed again."""
        schemas = _Schemas()
        traces = {one.path: _to_json(metadata[one.name], schemas) for one in members if not metadata[one.name].error}
        columns = [_columns(one) for one in schemas.found]
        text = json.dumps({"schemas": columns, "traces": traces}, separators=(",", ":"))
        made = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            made.write_text(text, encoding="utf-8")
            made.replace(self.path)
        except OSError:
            with suppress(OSError):
                made.unlink()


def memory_of(pattern: str, base: Path | None, way: MountSettings, folder: Path) -> Memory:
    """Return the file for the traces of a pattern, mounted in some way, in the folder of all indexes."""
    from dctv import __version__

    options = sorted((name, repr(value)) for name, value in way.options.items())
    parts = [_VERSION, __version__, str((base or Path()).absolute()), pattern, options]
    key = blake2b(json.dumps(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return Memory(folder / FLEETS / f"{key}.json")


class _Schemas:
    """The schemas of many tables, of which most are alike."""

    def __init__(self) -> None:
        self.found: list[Schema] = []
        self._numbers: dict[Hashable, int] = {}

    def number(self, schema: Schema) -> int:
        """Return the place of a schema among those found, which may have several that are equal.

        Units are compared as objects, since their fractions take long to hash: those from other processes are shared.
        """
        columns = tuple((one.name, one.type, id(one.unit)) for one in schema.columns)
        number = self._numbers.setdefault((schema.kind, columns, schema.partitions), len(self.found))
        if number == len(self.found):
            self.found.append(schema)
        return number


def _to_json(metadata: MemberMetadata, schemas: _Schemas) -> dict[str, Any]:
    return {
        "format": metadata.format,
        "tables": {name: schemas.number(schema) for name, schema in metadata.tables.items()},
        "diagnostics": [[d.file, d.reason, d.count, d.example, d.incomplete] for d in metadata.diagnostics],
        "properties": dict(metadata.properties),
        "last_ts": metadata.last_ts,
        "warnings": list(metadata.warnings),
        "counts": metadata.counts,
        "durations": None
        if metadata.durations is None
        else {
            name: [one.count, one.total, one.squares, one.least, one.most] for name, one in metadata.durations.items()
        },
        "state": metadata.state,
    }


def _metadata(stored: Mapping[str, Any], schemas: Sequence[Schema]) -> MemberMetadata:
    return MemberMetadata(
        stored["format"],
        {name: schemas[number] for name, number in stored["tables"].items()},
        [Diagnostic(*one) for one in stored["diagnostics"]],
        stored["properties"],
        stored["last_ts"],
        stored["warnings"],
        None if stored["counts"] is None else {table: _counts(one) for table, one in stored["counts"].items()},
        None
        if stored["durations"] is None
        else {name: EventDurations(*map(int, one)) for name, one in stored["durations"].items()},
        tuple((name, size, changed) for name, size, changed in stored["state"]),
    )


def _counts(stored: Mapping[str, Any]) -> Mapping[str, int]:
    return {name: int(count) for name, count in stored.items()}


def _columns(schema: Schema) -> list[Any]:
    columns = [[one.name, one.type, str(one.unit)] for one in schema.columns]
    return [schema.kind.value, columns, list(schema.partitions)]


def _schema(stored: Sequence[Any]) -> Schema:
    kind, columns, partitions = stored
    made = (ColumnType(n, t, parse_unit(u)) if u else ColumnType(n, t) for n, t, u in columns)
    return Schema(Kind(kind), tuple(made), tuple(partitions))
