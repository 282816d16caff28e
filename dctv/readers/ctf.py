"""Turns CTF traces, versions 1.8 and 2, into event tables: folders with metadata and the streams that these lay out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dctv.contracts.reader import Head, LoadContext
from dctv.errors import TraceError
from dctv.readers.ctf_classes import MetadataError, TraceClass
from dctv.readers.ctf_columns import layout
from dctv.readers.ctf_layout import Program
from dctv.readers.ctf_metadata import METADATA, is_metadata, is_stream, read_metadata
from dctv.readers.described import Described, RowPass
from dctv.record import record

_INDEX = "index"
_DEEP, _MOST_FOLDERS = 8, 4096
"""How deep, and among how many folders, those of traces are looked for."""


@record
class _Found:
    """A trace: its folder, the metadata, the files of streams and their numbers among the files of the mount."""

    folder: Path
    metadata: TraceClass
    number: int
    files: tuple[tuple[int, str], ...]


def _sniff(head: Head) -> bool:
    return is_stream(head.raw) or (head.path.name == METADATA and is_metadata(head.raw))


def _folder(path: Path) -> Sequence[Path] | None:
    """Return the metadata and streams of all traces in a folder; None if it holds anything else in plenty."""
    found: list[Path] = []
    others = 0
    for place in _folders(path):
        if _has_metadata(place):
            found.append(place / METADATA)
            found.extend(_streams(place))
        elif place.name != _INDEX:
            others += sum(one.is_file() and not one.name.startswith(".") for one in _inside(place))
    return found if found and others <= len(found) else None


def _folders(path: Path) -> Iterator[Path]:
    """Give a folder and those in it, the nearest first; nothing is looked for in the folder of a trace."""
    waiting = [path]
    depth, seen = 0, 0
    while waiting and depth <= _DEEP and seen <= _MOST_FOLDERS:
        following: list[Path] = []
        for place in waiting:
            seen += 1
            yield place
            if not _has_metadata(place):
                following += [one for one in _inside(place) if one.is_dir() and not one.is_symlink()]
        waiting = following
        depth += 1


def _inside(folder: Path) -> list[Path]:
    """Return what is in a folder; nothing if it cannot be read, since then it is no trace of this format."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _has_metadata(folder: Path) -> bool:
    try:
        with (folder / METADATA).open("rb") as file:
            return is_metadata(file.read(4096))
    except OSError:
        return False


def _streams(folder: Path) -> list[Path]:
    """Return the files of a trace's folder that hold streams: all besides the metadata and hidden ones."""
    try:
        files = sorted(one for one in folder.iterdir() if one.is_file())
    except OSError as error:
        raise TraceError(f"cannot read `{folder}`: {(error.strerror or str(error)).lower()}") from None
    return [one for one in files if one.name != METADATA and not one.name.startswith(".")]


def _start(paths: Sequence[Path], context: LoadContext, _: int) -> RowPass:
    from dctv import _kernels

    found = list(_traces(paths))
    program = Program()
    base = _common([one.folder for one in found])
    several = len(found) > 1
    traces = []
    for one in found:
        label = str(one.folder.relative_to(base)) if several else one.folder.name
        try:
            told = layout(one.metadata, label, program, several=several)
        except MetadataError as error:
            raise _unreadable(one.folder, error) from None
        traces.append({**told, "files": one.files})
    mount = {
        "nodes": program.nodes,
        "slots": program.slots,
        "traces": traces,
        "properties": list(_properties(found).items()),
        "notes": [
            (one.number, reason, len(examples), examples[0])
            for one in found
            for reason, examples in one.metadata.notes.items()
        ],
        "unix": any(_counts_from_1970(one.metadata) for one in found),
    }
    return _kernels.ctf_pass(mount, context.threads, context.progress)


def _traces(paths: Sequence[Path]) -> Iterator[_Found]:
    """Give the traces that files are of."""
    folders: dict[Path, list[tuple[int, Path]]] = {}
    for number, path in enumerate(paths):
        folders.setdefault(path.parent, []).append((number, path))
    for folder, files in folders.items():
        streams = [(number, str(path)) for number, path in files if path.name != METADATA]
        if not streams and _streams(folder) and len(paths) == 1:
            raise TraceError(f"`{paths[0]}` is only a part of a trace", hint=f"mount the folder `{folder}`")
        try:
            metadata = read_metadata(folder / METADATA)
        except MetadataError as error:
            raise _unreadable(folder, error) from None
        yield _Found(folder, metadata, files[0][0], tuple(streams))


def _unreadable(folder: Path, error: MetadataError) -> TraceError:
    return TraceError(f"cannot read `{folder / METADATA}`: {error}")


def _common(folders: Sequence[Path]) -> Path:
    """Return the innermost folder that all of them are in."""
    first, *others = folders
    while not all(one.is_relative_to(first) for one in others) or first in others:
        first = first.parent
    return first.parent if others and first in folders else first


def _counts_from_1970(trace: TraceClass) -> bool:
    return any(trace.clocks[stream.clock].unix for stream in trace.streams.values() if stream.clock)


def _properties(found: Sequence[_Found]) -> Mapping[str, str]:
    """Return what is known of where and how the traces were taken."""
    told: dict[str, str] = {}
    for one in found:
        environment: dict[str, Any] = one.metadata.environment
        clocks = [one.metadata.clocks[s.clock] for s in one.metadata.streams.values() if s.clock]
        first = {
            "format": f"CTF {one.metadata.version}",
            "clock": clocks[0].name if clocks else "none",
            "host": environment.get("hostname", environment.get("host", "")),
            "kernel": environment.get("kernel_release", environment.get("release", "")),
            "tool": _tool(environment),
            "uuid": one.metadata.uuid.hex(),
            **{f"clock_{key}": value for clock in clocks[:1] for key, value in clock.facts.items()},
            **{f"env_{key}": value for key, value in environment.items()},
        }
        for key, value in first.items():
            if value != "":
                told.setdefault(key, str(value))
    if len(found) > 1:
        told["traces"] = str(len(found))
        told.pop("uuid", None)
    return told


def _tool(environment: Mapping[str, Any]) -> str:
    name = environment.get("tracer_name", "")
    parts = [environment.get(f"tracer_{part}") for part in ("major", "minor", "patchlevel", "patch")]
    version = ".".join(str(part) for part in parts if part is not None)
    return f"{name} {version}".strip()


READER = Described(
    name="ctf",
    title="Common Trace Format 1.8 and 2, a folder with `metadata`: LTTng, barectf, babeltrace",
    suffixes=(),
    sniff=_sniff,
    start=_start,
    folder=_folder,
).reader()
