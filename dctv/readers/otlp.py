"""Read OpenTelemetry's OTLP as JSON: documents or lines with `resourceSpans`, `resourceLogs`, `resourceMetrics`.

`raw_events.span` has the spans, `raw_events.span_event` their events, `raw_events.log` log records and
`raw_events.metric` one row for each number of a data point: of histograms and summaries their counts and sums. Times
are in ns since the Unix epoch. A track is a service on a host in a process, or a metric of it; `args` has all
attributes, with those of the resource under `resource`.
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

_MEMBERS = (b'"resourceSpans"', b'"resourceLogs"', b'"resourceMetrics"')


def sniff(head: Head) -> bool:
    """Whether it is a JSON object that begins with a member of OTLP."""
    start = head.text.lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith(b"{") and start[1:].lstrip().startswith(_MEMBERS)


def _start(paths: Sequence[Path], context: LoadContext, chunk_bytes: int) -> SpanPass:
    from dctv.readers.service_spans.otlp import add_resource
    from dctv.readers.service_spans.spans import SpanPass

    return SpanPass(add_resource, paths, context, chunk_bytes)


READER = Described(
    name="otlp",
    title="OpenTelemetry OTLP JSON (.json, .jsonl)",
    suffixes=(),
    sniff=sniff,
    start=_start,
    dimensions=DIMENSIONS,
).reader()
