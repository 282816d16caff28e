"""Save the metadata of a fleet's traces to a file, and load that of traces that have not changed."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

from dctv.contracts.reader import Diagnostic
from dctv.index.location import FLEETS
from dctv.record import record
from dctv.run.fleet.members import FleetMember, is_as_it_was
from dctv.run.fleet.metadata import EventDurations, MemberMetadata, MountSettings, StoredRows
from dctv.types.schema import ColumnType, Kind, Schema
from dctv.types.units import parse_unit

_VERSION = 8
"""The version of the file's format."""


class _SavedStores:
    """The files of the column stores of some traces, which are loaded when the first of them is asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def traces(self) -> Mapping[str, Mapping[str, StoredRows]]:
        """The files by trace and table; none if the file is damaged, which is then removed, to be made again."""
        try:
            stored = json.loads(self._path.read_text(encoding="utf-8"))
            return {
                trace: {name: StoredRows(f"{folder}/{file}", stamp) for name, (file, stamp) in files.items()}
                for trace, (folder, files) in stored.items()
            }
        except (OSError, ValueError, TypeError, AttributeError):
            with suppress(OSError):
                self._path.unlink()
            return {}


class _SavedStore(Mapping[str, StoredRows]):
    """Those of one trace."""

    def __init__(self, saved: _SavedStores, trace: str) -> None:
        self._saved = saved
        self._trace = trace

    @property
    def _files(self) -> Mapping[str, StoredRows]:
        return self._saved.traces.get(self._trace, {})

    def __getitem__(self, name: str) -> StoredRows:
        return self._files[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


@record
class Memory:
    """A file with the metadata of some traces, and one with the files of their column stores."""

    path: Path

    @property
    def stores(self) -> Path:
        """The second file."""
        return self.path.with_name(f"{self.path.stem}-stores.json")

    def recall(self, members: Sequence[FleetMember], *, indexed: bool) -> dict[str, MemberMetadata]:
        """Return the metadata of the traces that have not changed, by name.

        That of a trace without an index is left out once it has one, or if all have to be `indexed`.
        """
        if not self.stores.exists():
            return {}
        try:
            stored = json.loads(self.path.read_text(encoding="utf-8"))
            schemas = [_schema(one) for one in stored["schemas"]]
            saved = _SavedStores(self.stores)
            known = {path: _metadata(one, schemas, _SavedStore(saved, path)) for path, one in stored["traces"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
            # Missing, of another version, or damaged: traces are read again.
            return {}
        found = [(one, known[one.path]) for one in members if one.path in known]
        return {
            one.name: metadata
            for one, metadata in found
            if not (metadata.unindexed and (indexed or Path(metadata.unindexed).exists()))
            and is_as_it_was(one, metadata.state)
        }

    def keep(self, members: Sequence[FleetMember], metadata: Mapping[str, MemberMetadata]) -> None:
        """Write the metadata of readable traces; if that fails, it will be computed again."""
        stores = {one.path: _store(metadata[one.name].stored) for one in members if metadata[one.name].stored}
        if not self.stores.exists() and any(isinstance(one.stored, _SavedStore) for one in metadata.values()):
            # It was damaged: where these traces have their stores is found when they are mounted next.
            return
        schemas = _Schemas()
        traces = {one.path: _to_json(metadata[one.name], schemas) for one in members if not metadata[one.name].error}
        columns = [_columns(one) for one in schemas.found]
        _write(self.stores, stores)
        _write(self.path, {"schemas": columns, "traces": traces})


def _store(stored: Mapping[str, StoredRows]) -> list[Any]:
    """Return the folder of a column store, and its files by table."""
    files = {name: (Path(one.path), one.stamp) for name, one in stored.items()}
    folder = next(str(path.parent) for path, _ in files.values())
    return [folder, {name: [path.name, stamp] for name, (path, stamp) in files.items()}]


def _write(path: Path, content: Mapping[str, Any]) -> None:
    """Write a file; if that fails, there is none, or the one that was."""
    made = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(json.dumps(content, separators=(",", ":")), encoding="utf-8")
        made.replace(path)
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
        "signature": metadata.signature,
        "events": metadata.events,
        "unindexed": metadata.unindexed,
    }


def _metadata(stored: Mapping[str, Any], schemas: Sequence[Schema], store: _SavedStore) -> MemberMetadata:
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
        store,
        str(stored["signature"]),
        None if stored["events"] is None else int(stored["events"]),
        str(stored["unindexed"]),
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
