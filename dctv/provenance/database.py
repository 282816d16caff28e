"""The `.pidx` file: the destination of each source line, with content hashes, in SQLite."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from dctv.errors import TraceError
from dctv.provenance.container import Container, GzipMember
from dctv.record import record

if TYPE_CHECKING:
    import numpy as np

NAME = "provenance.pidx"
VERSION = "1"
_TOOL = "dctv reorganize"
_TABLES = """
CREATE TABLE provenance_info(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE file_info(id INTEGER PRIMARY KEY, path TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE provenance_sources(
    source_idx INTEGER PRIMARY KEY, file_info_id INTEGER NOT NULL REFERENCES file_info(id), path TEXT NOT NULL,
    num_checkpoints INTEGER NOT NULL, num_lines INTEGER NOT NULL, num_events INTEGER NOT NULL,
    event_hash TEXT NOT NULL, ends_line INTEGER NOT NULL, container TEXT NOT NULL, kept TEXT);
CREATE TABLE provenance_group(id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, predicate TEXT NOT NULL);
CREATE TABLE provenance_outputs(
    id INTEGER PRIMARY KEY, group_id INTEGER NOT NULL REFERENCES provenance_group(id), path TEXT UNIQUE NOT NULL,
    hash TEXT NOT NULL, num_lines INTEGER NOT NULL, num_events INTEGER NOT NULL);
CREATE TABLE provenance_segments(
    source_idx INTEGER NOT NULL REFERENCES provenance_sources(source_idx), source_checkpoint INTEGER NOT NULL,
    output_id INTEGER NOT NULL REFERENCES provenance_outputs(id), output_line_start INTEGER NOT NULL,
    output_line_end INTEGER NOT NULL, event_count INTEGER NOT NULL,
    PRIMARY KEY(source_idx, source_checkpoint, output_id)) WITHOUT ROWID;
CREATE TABLE provenance_copies(
    output_id INTEGER NOT NULL REFERENCES provenance_outputs(id), output_line_start INTEGER NOT NULL,
    output_line_end INTEGER NOT NULL, PRIMARY KEY(output_id, output_line_start)) WITHOUT ROWID;
CREATE TABLE provenance_order(
    source_idx INTEGER NOT NULL REFERENCES provenance_sources(source_idx), source_checkpoint INTEGER NOT NULL,
    num_lines INTEGER NOT NULL, outputs BLOB NOT NULL, PRIMARY KEY(source_idx, source_checkpoint)) WITHOUT ROWID;
"""


@record
class ReorganizedFile:
    """A source file."""

    number: int
    path: str
    """Its original path."""
    name: str
    """Its path below the common folder of all sources."""
    digest: str
    """SHA-256 of the file."""
    text_digest: str
    """SHA-256 of its text."""
    chunks: int
    lines: int
    events: int
    ends_line: bool
    """Whether its text ends with a newline."""
    container: Container
    kept: str | None
    """The copy of the compressed file, if no compression reproduces it."""


@record
class EventGroup:
    """A group of events."""

    number: int
    name: str
    predicate: str
    """In the filter language; empty for the rest."""


@record
class WrittenFile:
    """An output file."""

    number: int
    group: int
    path: str
    """Its name in the folder."""
    digest: str
    lines: int
    events: int


@record
class Segment:
    """Consecutive lines of an output from one chunk of a source, in its order."""

    source: int
    chunk: int
    output: int
    start: int
    end: int
    events: int


class Provenance:
    """An open `.pidx`."""

    def __init__(self, folder: Path) -> None:
        """Open the output of `dctv reorganize` in a folder.

        Raises:
            TraceError: there is none, it is damaged, or a newer dctv wrote it.
        """
        self.folder = folder
        path = folder / NAME
        if not path.is_file():
            raise TraceError(f"no `{NAME}` in `{folder}`", hint="name a folder that `dctv reorganize -o` wrote")
        try:
            self._connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
            problem = self._connection.execute("PRAGMA integrity_check").fetchone()[0]
            found = dict(self._connection.execute("SELECT key, value FROM provenance_info"))
        except sqlite3.Error as error:
            raise TraceError(f"`{path}` is damaged: {error}") from None
        if problem != "ok":
            raise TraceError(f"`{path}` is damaged: {problem.splitlines()[0]}")
        if found.get("version") != VERSION:
            raise TraceError(f"`{path}` is of version {found.get('version')}, this dctv reads version {VERSION}")
        self.reader: str = found["reader"]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def sources(self) -> list[ReorganizedFile]:
        """Return the source files in order."""
        rows = self._connection.execute(
            "SELECT source_idx, f.path, s.path, f.hash, event_hash, num_checkpoints, num_lines, num_events, ends_line,"
            " container, kept FROM provenance_sources s JOIN file_info f ON f.id = file_info_id ORDER BY source_idx"
        )
        found = [_origin(row) for row in rows]
        for one in found:
            self._check_inside(one.name)
            self._check_inside(one.kept or "kept")
        return found

    def groups(self) -> list[EventGroup]:
        """Return the groups, with the rest last."""
        return [EventGroup(*row) for row in self._connection.execute("SELECT * FROM provenance_group ORDER BY id")]

    def outputs(self) -> list[WrittenFile]:
        """Return the output files."""
        found = [WrittenFile(*row) for row in self._connection.execute("SELECT * FROM provenance_outputs ORDER BY id")]
        for one in found:
            self._check_inside(one.path)
        return found

    def _check_inside(self, name: str) -> None:
        """Reject names in a foreign file that would make us read or write outside of the folder."""
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise TraceError(f"`{self.folder / NAME}` names a file outside of its folder: `{name[:100]}`")

    def chunks(self, source: int) -> Iterator[tuple[int, np.ndarray[Any, Any], list[Segment]]]:
        """Yield for each chunk of a source: its number, the output of each of its lines, and their segments."""
        rows = self._connection.execute(
            "SELECT source_checkpoint, num_lines, outputs FROM provenance_order WHERE source_idx = ?"
            " ORDER BY source_checkpoint",
            [source],
        )
        for chunk, lines, blob in rows:
            found = self._connection.execute(
                "SELECT * FROM provenance_segments WHERE source_idx = ? AND source_checkpoint = ? ORDER BY output_id",
                [source, chunk],
            )
            yield chunk, _unpacked(blob, lines), [Segment(*row) for row in found]

    def copies(self, output: int) -> list[tuple[int, int]]:
        """Return the ranges of lines in an output that are copies of lines in another one."""
        return list(
            self._connection.execute(
                "SELECT output_line_start, output_line_end FROM provenance_copies WHERE output_id = ?"
                " ORDER BY output_line_start",
                [output],
            )
        )

    def segments(self, output: int) -> list[Segment]:
        """Return the segments of an output in the order of its lines."""
        rows = self._connection.execute(
            "SELECT * FROM provenance_segments WHERE output_id = ? ORDER BY output_line_start", [output]
        )
        return [Segment(*row) for row in rows]


class Recorder:
    """A writer of a `.pidx` file."""

    def __init__(self, path: Path, reader: str, groups: list[EventGroup]) -> None:
        self._connection = sqlite3.connect(path)
        self._connection.execute("PRAGMA foreign_keys = OFF")
        self._connection.executescript(_TABLES)
        about = {"version": VERSION, "tool": _TOOL, "reader": reader}
        self._connection.executemany("INSERT INTO provenance_info VALUES (?, ?)", about.items())
        rows = [(group.number, group.name, group.predicate) for group in groups]
        self._connection.executemany("INSERT INTO provenance_group VALUES (?, ?, ?)", rows)

    def chunk(self, source: int, chunk: int, homes: np.ndarray[Any, Any], segments: list[Segment]) -> None:
        """Record the outputs of a chunk's lines."""
        blob = zlib.compress(homes.astype("<u2").tobytes(), 6)
        self._connection.execute("INSERT INTO provenance_order VALUES (?, ?, ?, ?)", (source, chunk, len(homes), blob))
        rows = [(s.source, s.chunk, s.output, s.start, s.end, s.events) for s in segments]
        self._connection.executemany("INSERT INTO provenance_segments VALUES (?, ?, ?, ?, ?, ?)", rows)

    def copy(self, output: int, start: int, end: int) -> None:
        """Record lines that are copies."""
        self._connection.execute("INSERT INTO provenance_copies VALUES (?, ?, ?)", (output, start, end))

    def source(self, origin: ReorganizedFile) -> None:
        """Record a source after it was read to its end."""
        self._connection.execute("INSERT INTO file_info VALUES (?, ?, ?)", (origin.number, origin.path, origin.digest))
        self._connection.execute(
            "INSERT INTO provenance_sources VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                origin.number,
                origin.number,
                origin.name,
                origin.chunks,
                origin.lines,
                origin.events,
                origin.text_digest,
                origin.ends_line,
                _packed(origin.container),
                origin.kept,
            ),
        )

    def finish(self, outputs: list[WrittenFile]) -> None:
        """Record the outputs, and sync everything to disk; nothing can be recorded after it."""
        rows = [(one.number, one.group, one.path, one.digest, one.lines, one.events) for one in outputs]
        self._connection.executemany("INSERT INTO provenance_outputs VALUES (?, ?, ?, ?, ?, ?)", rows)
        self._connection.commit()

    def close(self) -> None:
        """Close the file; what was not finished is lost."""
        self._connection.close()


def _origin(row: Sequence[Any]) -> ReorganizedFile:
    number, path, name, digest, text_digest, chunks, lines, events, ends_line, container, kept = row
    counts = (chunks, lines, events)
    return ReorganizedFile(
        number, path, name, digest, text_digest, *counts, bool(ends_line), _container(container), kept
    )


def _packed(container: Container) -> str:
    members = [[member.header.hex(), member.level, member.text] for member in container.members]
    return json.dumps({"packed": container.packed, "repeatable": container.repeatable, "members": members})


def _container(text: str) -> Container:
    found = json.loads(text)
    members = tuple(GzipMember(bytes.fromhex(header), level, size) for header, level, size in found["members"])
    return Container(found["packed"], members, found["repeatable"])


def _unpacked(blob: bytes, lines: int) -> np.ndarray[Any, Any]:
    import numpy as np

    inflater = zlib.decompressobj()
    raw = inflater.decompress(blob, 2 * lines + 1)
    if len(raw) != 2 * lines:
        raise TraceError("the provenance index is damaged: the order of lines has another length than its chunk")
    return np.frombuffer(raw, "<u2")
