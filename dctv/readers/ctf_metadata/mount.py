"""Compile the metadata of all CTF traces of a mount for the kernels, and start a pass over their streams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dctv.contracts.reader import LoadContext
from dctv.errors import TraceError
from dctv.readers.ctf_metadata.classes import MetadataError, TraceClass
from dctv.readers.ctf_metadata.columns import layout
from dctv.readers.ctf_metadata.files import METADATA, streams
from dctv.readers.ctf_metadata.layout import Program
from dctv.readers.ctf_metadata.reading import read_metadata
from dctv.readers.described import RowPass
from dctv.record import record


@record
class _Found:
    """A trace: its folder, its metadata, its stream files, and their numbers among the files of the mount."""

    folder: Path
    metadata: TraceClass
    number: int
    files: tuple[tuple[int, str], ...]


def start(paths: Sequence[Path], context: LoadContext) -> RowPass:
    """Start a pass over the streams of all traces that the files belong to."""
    from dctv import _kernels

    found = list(_traces(paths))
    program = Program()
    base = _common([one.folder for one in found])
    several = len(found) > 1
    traces = []
    for one in found:
        label = str(one.folder.relative_to(base)) if several else one.folder.name
        try:
            described = layout(one.metadata, label, program, several=several)
        except MetadataError as error:
            raise _unreadable(one.folder, error) from None
        traces.append({**described, "files": one.files})
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
    """Yield the traces that the files belong to."""
    folders: dict[Path, list[tuple[int, Path]]] = {}
    for number, path in enumerate(paths):
        folders.setdefault(path.parent, []).append((number, path))
    for folder, files in folders.items():
        inside = [(number, str(path)) for number, path in files if path.name != METADATA]
        if not inside and streams(folder) and len(paths) == 1:
            raise TraceError(f"`{paths[0]}` is only a part of a trace", hint=f"mount the folder `{folder}`")
        try:
            metadata = read_metadata(folder / METADATA)
        except MetadataError as error:
            raise _unreadable(folder, error) from None
        yield _Found(folder, metadata, files[0][0], tuple(inside))


def _unreadable(folder: Path, error: MetadataError) -> TraceError:
    return TraceError(f"cannot read `{folder / METADATA}`: {error}")


def _common(folders: Sequence[Path]) -> Path:
    """Return the innermost folder that contains all of them."""
    first, *others = folders
    while not all(one.is_relative_to(first) for one in others) or first in others:
        first = first.parent
    return first.parent if others and first in folders else first


def _counts_from_1970(trace: TraceClass) -> bool:
    return any(trace.clocks[stream.clock].unix for stream in trace.streams.values() if stream.clock)


def _properties(found: Sequence[_Found]) -> Mapping[str, str]:
    """Return properties that describe where and how the traces were recorded."""
    properties: dict[str, str] = {}
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
            **{f"clock_{key}": value for clock in clocks[:1] for key, value in clock.properties.items()},
            **{f"env_{key}": value for key, value in environment.items()},
        }
        for key, value in first.items():
            if value != "":
                properties.setdefault(key, str(value))
    if len(found) > 1:
        properties["traces"] = str(len(found))
        properties.pop("uuid", None)
    return properties


def _tool(environment: Mapping[str, Any]) -> str:
    name = environment.get("tracer_name", "")
    parts = [environment.get(f"tracer_{part}") for part in ("major", "minor", "patchlevel", "patch")]
    version = ".".join(str(part) for part in parts if part is not None)
    return f"{name} {version}".strip()
