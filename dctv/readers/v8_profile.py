"""Read V8 profiles, as Chrome's DevTools and Node write them: `.cpuprofile` and `.heapprofile`.

Each sample is a row of `raw_events.sample` with its stack; `nodes` has the functions of the call tree. CPU samples have
times, and in `period` the time since the previous sample; heap samples have none, so all are at `_ts` 0, with their
size in `period`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dctv.contracts.reader import Head, LoadContext
from dctv.patterns import pattern
from dctv.readers.described import Described, RowPass

_FRAME = pattern(rb'"callFrame"\s*:\s*\{|"functionName"\s*:')
_TREE = pattern(rb'\{\s*(?:"[^"]*"\s*:\s*[-+0-9.eE"]+\s*,\s*)*"(?:nodes"\s*:\s*\[|head"\s*:\s*\{)')


def sniff(head: Head) -> bool:
    """Whether it is an object with a call tree as its first large member."""
    text = head.text.removeprefix(b"\xef\xbb\xbf").lstrip()
    return bool(_TREE.match(text) and _FRAME.search(text))


def start(paths: Sequence[Path], context: LoadContext, _: int) -> RowPass:
    """Start a pass over profiles."""
    from dctv.readers.v8_samples.reading import ProfilePass  # it needs Arrow

    return ProfilePass(paths, context)


READER = Described(
    name="v8-profile",
    title="CPU and heap profiles of V8 (.cpuprofile, .heapprofile): Chrome, Node",
    suffixes=(".cpuprofile", ".heapprofile", ".cpuprofile.gz", ".heapprofile.gz"),
    sniff=sniff,
    start=start,
    dimensions={"event": "event"},
).reader()
