"""Read collapsed stacks, the input of flame graphs: lines such as `main;parse;read 12`, a stack and its count.

Each line is a row of `raw_events.sample`: `stack` as written, `period` (the count) and `line`. The format has no times,
so all samples are at `_ts` 0; if the first frame is `comm-pid` or `comm-pid/tid`, as scripts write on request, it fills
`comm`, `pid` and `tid`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dctv.contracts.reader import Head, LoadContext
from dctv.patterns import pattern
from dctv.readers.described import Described, RowPass

_LINE = pattern(rb"[^\s,{\[<\"'#][^\n]*[ \t]\d+\r?")
_LINES = 64


def sniff(head: Head) -> bool:
    """Whether the first lines are stacks followed by a number, at least one of them with two frames."""
    text = head.text
    if b"\0" in text[:4096]:
        return False
    lines = text.splitlines()
    # The last line of the head may be incomplete.
    whole = [line for line in (lines[:-1] if len(lines) > 1 else lines) if line.strip()][:_LINES]
    return any(b";" in line for line in whole) and all(_LINE.fullmatch(line) for line in whole)


def start(paths: Sequence[Path], context: LoadContext, _: int) -> RowPass:
    """Start a pass over files of stacks."""
    from dctv._kernels import collapsed_pass

    return collapsed_pass([str(path) for path in paths], max(1, context.threads), context.progress)


READER = Described(
    name="collapsed-stacks",
    title="Collapsed stacks (flame graphs)",
    suffixes=(".collapsed", ".collapsed.txt", ".folded", ".folded.txt", ".collapsed.gz", ".folded.gz"),
    sniff=sniff,
    start=start,
    dimensions={"event": "event"},
).reader()
