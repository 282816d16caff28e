"""Reads ftrace as text: tracefs `trace` and `trace_pipe`, `trace-cmd report`, Android's atrace and systrace pages.

Every event becomes a table `raw_events.<event>`. Its columns are `_ts`, `cpu` (which CPU wrote it), `common_comm`,
`common_pid` (the thread), `common_tgid` and `common_flags` (if the trace has them), `line` (for marks and events of
scheduler and interrupts: the number of the event's line, which tells the order of equal times), then the event's fields
in the order in which they first appear, and `text` for whatever belongs to no field. A field named like one of these is
called `field_cpu`, `field_text` and so on. Numbers become numbers; `0x` numbers, numbers with leading zeros and the
arguments of system calls (hexadecimal without 0x) stay texts as printed.

Marks that programs write are called `print`, `tracing_mark_write` or `0` by different kernels and tools. Here they are
always `print|B`, `print|E`, `print|C`, `print|S`, `print|F`, `print|I`, `print|N`, `print|G`, `print|H` by their
first letter, `print|trace_event_clock_sync`, or `print` for any other text. `event_counts` has the names as printed.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dctv.contracts.reader import Head, LoadContext, LoadedTrace, Reader, TraceTable
from dctv.errors import TraceError
from dctv.patterns import pattern
from dctv.readers.ftrace_events.chunks import CHUNKS
from dctv.readers.ftrace_events.fields import FIXED, OPTIONAL, counts_table, event_table
from dctv.readers.ftrace_events.report import check, check_met, check_options, diagnostics, properties

_EVENT = pattern(rb"^[^\n]{0,64}-\d+\s+(?:\([ \d-]+\)\s+)?\[\d{1,6}\]\s*(?:[^\s:]{1,12}\s+)?\d+(?:\.\d+)?:\s", re.M)
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
    """Whether a file begins like ftrace text, packed as adb gives it, or like a page of the systrace viewer."""
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
    """Read the files of one trace; they share one clock, and `_ts` 0 is the first event of all."""
    from dctv._kernels import decode_ftrace

    check_options(context.options)
    for path in paths:
        check(path)
    try:
        found = decode_ftrace([str(path) for path in paths], max(1, context.threads), context.progress)
    except OSError as error:
        raise TraceError(f"cannot read `{error.args[0]}`: {error.args[1]}") from None
    except ValueError as error:
        raise TraceError(f"cannot hold the tables of `{paths[0]}`: {error}") from None
    for path, met in zip(paths, found["files"], strict=True):
        check_met(path, met)
    return LoadedTrace(_tables(found["tables"]), diagnostics(paths, found), found["last"], properties(found))


def _tables(decoded: Sequence[tuple[str, Any, bool, list[tuple[str, int]]]]) -> dict[str, TraceTable]:
    lacks = [c for c in OPTIONAL if all(_is_empty(data, c) for _, data, _, _ in decoded)]
    tables = {
        f"raw_events.{name}": event_table(name, data, lacks=lacks, in_order=not unsorted)
        for name, data, unsorted, _ in decoded
    }
    counts = [(printed, f"raw_events.{name}", n) for name, _, _, names in decoded for printed, n in names]
    tables["event_counts"] = counts_table(counts)
    return tables


def _is_empty(data: Any, column: str) -> bool:
    return bool(data.column(FIXED.index(column)).null_count == len(data))


READER = Reader(
    name="ftrace-text",
    title="ftrace text (tracefs, trace-cmd report, atrace, systrace pages)",
    suffixes=(".txt", ".txt.gz", ".trace", ".trace.gz", ".systrace", ".systrace.gz", ".ftrace", ".html", ".html.gz"),
    sniff=sniff,
    load=load,
    chunks=CHUNKS,
)
