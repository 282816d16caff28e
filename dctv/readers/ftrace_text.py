"""Read ftrace as text: tracefs `trace` and `trace_pipe`, `trace-cmd report`, Android's atrace and systrace pages.

Every event becomes a table `raw_events.<event>`. Its columns are `_ts`, `cpu` (which CPU wrote it), `common_comm`,
`common_pid` (the thread), `common_tgid` and `common_flags` (if the trace has them), `line` (for marks, and for events
where views need the order: the line number, which orders events at equal times), then the event's fields in the order
in which they first appear, and `text` for text outside of fields. A field with the name of one of these is called
`field_cpu`, `field_text` and so on. Numbers become numbers; `0x` numbers, numbers with leading zeros and the arguments
of system calls (hexadecimal without 0x) stay texts as printed.

Marks that programs write are called `print`, `tracing_mark_write` or `0` by different kernels and tools. Here they are
always `print|B`, `print|E`, `print|C`, `print|S`, `print|F`, `print|I`, `print|N`, `print|G`, `print|H` by their
first letter, `print|trace_event_clock_sync`, or `print` for any other text. `event_counts` has the names as printed.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from pathlib import Path

from dctv.contracts.reader import ChunkReader, Head, LoadContext, LoadedTrace, Reader
from dctv.patterns import pattern
from dctv.record import unread

# A blank before the dash would match `:-1    -1 [001] 7.5:`, as perf prints threads that have exited.
_EVENT = pattern(
    rb"^[^\n]{0,63}[^\s]-\d+\s+(?:\([ \d-]+\)\s+)?\[\d{1,6}\]\s*(?:[^\s:]{1,12}\s+|[^\s:]{4,8}?)?\d+(?:\.\d+)?:\s",
    re.M,
)
_HEADER = pattern(
    rb"^(?:# tracer: |version = \d+\r?$|cpus=\d+\r?$|CPU:\d+ \[(?:LOST \d|\d+ EVENTS|EVENTS D)|TRACE:\r?$"
    rb"|# [\w-]+ latency trace v)",
    re.M,
)
_MARKUP = pattern(rb"(?:\xef\xbb\xbf)?\s*<(?:!|html|head|script)", re.I)
_PAGE = (b"linuxPerfData", b"trace-data", b"tr-ui-timeline-view", b"tracing.TimelineModel", b"Android System Trace")
_ZLIB = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_HEAD_SIZE = 1 << 16


def sniff(head: Head) -> bool:
    """Whether a file begins like ftrace text, compressed as by adb, or like a page of the systrace viewer."""
    text = head.text
    if _MARKUP.match(text):
        return any(mark in text for mark in _PAGE)
    start = text.find(b"TRACE:", 0, 4096)
    packed = text[text.find(b"\n", start) + 1 :] if start >= 0 else text
    if packed.startswith(_ZLIB):
        try:
            text = zlib.decompressobj().decompress(packed, _HEAD_SIZE)
        except zlib.error:
            return start >= 0
    return _HEADER.search(text[:8192]) is not None or _EVENT.search(text[:16384]) is not None


def load(paths: Sequence[Path], context: LoadContext) -> LoadedTrace:
    """Read the files of one trace; they share one clock, and `_ts` 0 is the first event of all files."""
    from dctv.contracts.whole import load as load_whole

    return load_whole(_chunks(), paths, context)


def _chunks() -> ChunkReader:
    from dctv.readers.ftrace_events.chunks import CHUNKS

    return CHUNKS


READER = Reader(
    name="ftrace-text",
    title="ftrace text (tracefs, trace-cmd report, atrace, systrace pages)",
    suffixes=(".txt", ".txt.gz", ".trace", ".trace.gz", ".systrace", ".systrace.gz", ".ftrace", ".html", ".html.gz"),
    sniff=sniff,
    load=load,
    chunks=unread(ChunkReader, _chunks),
)
