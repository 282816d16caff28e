"""Read traces as exported by Jaeger's query service: JSON documents with `data`, traces with spans and processes.

`raw_events.span` has the spans and `raw_events.span_event` their logs. Times are in us since the Unix epoch. A track is
a service on a host in a process; `args` has all tags, with those of the process under `process`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dctv.contracts.reader import Head, LoadContext
from dctv.readers.described import Described
from dctv.readers.service_spans import DIMENSIONS

if TYPE_CHECKING:
    from dctv.readers.service_spans.spans import SpanPass


def sniff(head: Head) -> bool:
    """Whether it is a JSON object with traces in `data`."""
    start = head.text.lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith(b"{") and b'"data"' in start and (b'"traceID"' in start or b'"traceId"' in start)


def _start(paths: Sequence[Path], context: LoadContext, chunk_bytes: int) -> SpanPass:
    from dctv.readers.service_spans.jaeger import add_trace
    from dctv.readers.service_spans.spans import SpanPass

    return SpanPass(add_trace, paths, context, chunk_bytes)


READER = Described(
    name="jaeger",
    title="Jaeger JSON (.json)",
    suffixes=(),
    sniff=sniff,
    start=_start,
    dimensions=DIMENSIONS,
).reader()
