"""Read CTF traces, versions 1.8 and 2, into event tables: folders with metadata, and the streams that it describes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from dctv.contracts.reader import Head, LoadContext
from dctv.readers.ctf_metadata.files import METADATA, is_metadata, is_stream, streams
from dctv.readers.described import Described, RowPass

_INDEX = "index"
_DEEP, _MOST_FOLDERS = 8, 4096
"""Limits of the search for traces: depth, and number of folders."""


def _sniff(head: Head) -> bool:
    return is_stream(head.raw) or (head.path.name == METADATA and is_metadata(head.raw))


def _folder(path: Path) -> Sequence[Path] | None:
    """Return the metadata and streams of all traces in a folder; None if the folder holds much else."""
    found: list[Path] = []
    others = 0
    faults: list[OSError] = []
    for place in _folders(path, faults):
        if _has_metadata(place):
            found.append(place / METADATA)
            found.extend(streams(place))
        elif place.name != _INDEX:
            others += sum(one.is_file() and not one.name.startswith(".") for one in _inside(place, faults))
    if found and faults:
        # A trace may be there.
        raise faults[0]
    return found if found and others <= len(found) else None


def _folders(path: Path, faults: list[OSError]) -> Iterator[Path]:
    """Yield a folder and those in it, breadth first; the folder of a trace is not searched."""
    waiting = [path]
    depth, seen = 0, 0
    while waiting and depth <= _DEEP and seen <= _MOST_FOLDERS:
        following: list[Path] = []
        for place in waiting:
            seen += 1
            yield place
            if not _has_metadata(place):
                following += [one for one in _inside(place, faults) if one.is_dir() and not one.is_symlink()]
        waiting = following
        depth += 1


def _inside(folder: Path, faults: list[OSError]) -> list[Path]:
    """Return the entries of a folder; none and a fault if it is unreadable."""
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        faults.append(error)
        return []


def _has_metadata(folder: Path) -> bool:
    try:
        with (folder / METADATA).open("rb") as file:
            return is_metadata(file.read(4096))
    except OSError:
        return False


def _start(paths: Sequence[Path], context: LoadContext, _: int) -> RowPass:
    from dctv.readers.ctf_metadata.mount import start

    return start(paths, context)


READER = Described(
    name="ctf",
    title="Common Trace Format 1.8 and 2, a folder with `metadata`: LTTng, barectf, babeltrace",
    suffixes=(),
    sniff=_sniff,
    start=_start,
    folder=_folder,
).reader()
