"""Read the text of `perf script`: `comm pid/tid [cpu] time: period event: ...`, followed by lines of a call chain.

Samples are rows of `raw_events.sample`, like those of perf.data; `stack` has the functions' names from the root on,
separated by `;`, with `[unknown]` where perf found none, and `text` is text after the event that is not an address.
Samples of tracepoints are rows of `raw_events.<tracepoint>`, with the fields that are printed, and the rest in `text`.
Other output of perf (`PERF_RECORD_COMM`, ...) is in `raw_events.record`. A number on its own before the time is the
thread. Where times were not printed, all samples are at 0, and the property `clock` is `none`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from dctv.contracts.reader import Head, LoadContext
from dctv.patterns import pattern
from dctv.readers.described import Described, RowPass

_EVENT = pattern(
    rb"^(?:[^\n]{0,64}?[ \t])?-?\d+(?:/-?\d+)?[ \t]+(?:\[\d{1,6}\][ \t]+)?(?:[A-Z]{1,4}[ \t]+)?\d+\.\d{3,9}:"
    rb"(?:[ \t]*\r?$|[ \t]+(?:PERF_RECORD_|(?:\d+[ \t]+)?(?:\r?$|[0-9a-f]{4,16}(?:\s|$)|[^\s:][^\s]*:(?:\s|$))))",
    re.M,
)
_UNTIMED = pattern(
    rb"^[ \t]*[^\s\d#][^\n]{0,64}?[ \t]+-?\d+(?:/-?\d+)?[ \t]+(?:\[\d{1,6}\][ \t]+)?(?:[A-Z]{1,4}[ \t]+)?(?:\d+[ \t]+)?"
    rb"[^\s:]\S*:[ \t]*\r?\n(?:[ \t]+[0-9a-f]{4,16}[ \t]+\S|[0-9a-f]{4,16}[ \t]+\S[^\n]*\)[ \t]*\r?$)",
    re.M,
)
"""A head without a time is one only with a name before it and a frame below it; others are also in lists of counts."""


def sniff(head: Head) -> bool:
    """Whether a line of a file's head is the header of a sample."""
    text = head.text[:32768]
    return b"\0" not in text[:4096] and any(one.search(text) for one in (_EVENT, _UNTIMED))


def start(paths: Sequence[Path], context: LoadContext, _: int) -> RowPass:
    """Start a pass over files of text."""
    from dctv._kernels import perf_script_pass
    from dctv.readers.ftrace_events.tracepoints import TracepointPass

    return TracepointPass(perf_script_pass([str(path) for path in paths], max(1, context.threads), context.progress))


READER = Described(
    name="perf-script",
    title="Text of perf script",
    suffixes=(".perf.txt", ".perf.txt.gz", ".script.txt", ".script.txt.gz", ".perf-script"),
    sniff=sniff,
    start=start,
    dimensions={"event": "event", "cpu": "cpu", "pid": "pid", "tid": "tid", "comm": "comm"},
).reader()
