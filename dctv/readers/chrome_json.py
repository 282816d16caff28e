"""Read trace events in JSON, as Chrome, PyTorch, Bazel, clang, TypeScript, Node and many others write them.

Each phase has a table: `raw_events.complete`, `begin`, `end`, `instant`, `counter`, `async_begin`, `async_instant`,
`async_end`, `flow_begin`, `flow_step`, `flow_end`, `sample` and so on. All have `_ts`, `name`, `cat`, `pid`, `tid`,
`track`, `line` and `args`, the JSON text as written. Metadata events are in `metadata`, and events without a usable
time in `unread`. Times are exact to the nanosecond, whatever their notation.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dctv.contracts.chunks import DecodedChunk
from dctv.contracts.reader import Head, LoadContext
from dctv.patterns import pattern
from dctv.readers.described import Described, RowPass
from dctv.readers.dftracer import sniff as is_dftracer

_ZIP = b"PK\x03\x04"
_HEAD = 1 << 16
_FAR = 16 << 20
"""How many bytes of an object are searched for its member `traceEvents`."""

_LIST = pattern(rb"\[[\s,]*\{")
_NOTHING = pattern(rb"\[\s*\]?\s*")
"""A list of no events, which may lack its end as any other."""
_EVENTS = pattern(rb'["\']?traceEvents["\']?\s*[:=]\s*\[')
_PHASE = pattern(rb'[{,\s]["\']?ph["\']?\s*[:=]\s*["\'][!-~]["\']')
_EVENT = pattern(rb'\{(?:[^{}]|\{[^{}]*\})*?["\']ph["\']\s*:\s*["\'][!-~]["\']')


def sniff(head: Head) -> bool:
    """Whether the text is an array of events, an object with one, or an archive of such texts."""
    if head.raw.startswith(_ZIP):
        return _holds_traces(head.path)
    if is_dftracer(head):
        return False
    return _is_trace(head.text) or (_may_begin_far(head.text) and _is_far(head))


def _is_trace(text: bytes) -> bool:
    text = text.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return bool(_EVENTS.search(text) or _EVENT.match(text[:_HEAD]))
    return bool(_NOTHING.fullmatch(text) or (_LIST.match(text) and _PHASE.search(text)))


def _may_begin_far(text: bytes) -> bool:
    return len(text) >= _HEAD and text.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in {b"{", b"["}


def _is_far(head: Head) -> bool:
    """Whether events begin after the usual head."""
    import gzip

    try:
        with gzip.open(head.path) if head.raw.startswith(b"\x1f\x8b") else head.path.open("rb") as file:
            return _is_trace(file.read(_FAR))
    except (OSError, EOFError, zlib.error):
        return False


def _holds_traces(path: Path) -> bool:
    """Whether an archive is readable, and some of its members are traces."""
    try:
        return bool(_members(path))
    except ValueError:
        return False


def _members(path: Path) -> list[tuple[int, int, bool]]:
    """Return the positions of an archive's members that are traces.

    Raises:
        ValueError: It is damaged, or a member has an unknown compression.
    """
    from dctv.readers.chrome_zipped.members import members

    return [member.part for member in members(path) if _is_trace(member.head)]


class _Archived:
    """A pass over members of archives that reports on the archives."""

    def __init__(self, found: RowPass, archives: Sequence[int]) -> None:
        self._found = found
        self._archives = archives

    def __iter__(self) -> Iterator[DecodedChunk]:
        return iter(self._found)

    def metadata(self) -> Mapping[str, Any]:
        """Return the metadata of the pass."""
        entries = self._found.metadata()
        notes = [(self._archives[note[0]], *note[1:]) for note in entries["diagnostics"]]
        return {**entries, "diagnostics": notes}


def start(paths: Sequence[Path], context: LoadContext, _: int) -> RowPass:
    """Start a pass over the files of a trace."""
    from dctv._kernels import chrome_pass

    parts: list[tuple[str, tuple[int, int, bool] | None]] = []
    archives: list[int] = []
    for number, path in enumerate(paths):
        found = _parts(path)
        parts += [(str(path), part) for part in found]
        archives += [number] * len(found)
    return _Archived(chrome_pass(parts, max(1, context.threads), context.progress), archives)


def _parts(path: Path) -> Sequence[tuple[int, int, bool] | None]:
    with path.open("rb") as file:
        if file.read(len(_ZIP)) != _ZIP:
            return [None]
    found = _members(path)
    if not found:
        raise ValueError("none of the files in the archive is a trace")
    return found


READER = Described(
    name="chrome-json",
    title="Chrome trace events in JSON (.json, .json.gz, .zip)",
    suffixes=(".json", ".json.gz"),
    sniff=sniff,
    start=start,
    dimensions={"cat": "cat", "pid": "pid", "tid": "tid"},
).reader()
