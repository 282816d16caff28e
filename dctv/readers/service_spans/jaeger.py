"""Convert traces as exported by Jaeger to rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dctv.readers.service_spans.spans import SpanRows, int64_or_none, members, text
from dctv.types.schema import TS

_SHOWN = {
    "traceID", "spanID", "parentSpanID", "operationName", "references", "startTime", "duration", "tags", "logs",
    "processID",
}  # fmt: skip


def _tags(value: object) -> dict[str, Any]:
    """Return the value of each tag, the last one of a key that repeats."""
    return {str(one.get("key")): one.get("value") for one in members(value)}


def _shown(value: object, last: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return tags for `args`: a key that repeats has the list of its distinct values, in their order."""
    if not isinstance(value, list) or len(value) == len(last):
        return last
    found: dict[str, dict[str, Any]] = {}
    for one in members(value):
        # As JSON, since 1 and true are equal for a dictionary.
        found.setdefault(str(one.get("key")), {}).setdefault(json.dumps(one.get("value")), one.get("value"))
    return {key: last[key] if len(values) == 1 else [*values.values()] for key, values in found.items()}


def add_trace(member: str, element: Any, rows: SpanRows) -> None:
    """Convert one trace to rows."""
    if member != "data" or not isinstance(element, dict):
        if member not in {"total", "limit", "offset", "errors"}:
            rows.skip(f"unknown member `{member[:50]}`" if member != "data" else "element is not an object")
        return
    listed = element.get("processes")
    processes = listed if isinstance(listed, dict) else {}
    for span in members(element.get("spans")):
        process = span.get("process") or processes.get(str(span.get("processID")))
        _span(span, process if isinstance(process, dict) else {}, rows)


def _references(span: Mapping[str, Any]) -> tuple[str | None, list[Mapping[str, Any]]]:
    """Return the parent, which is in the same trace, and all other references."""
    listed = list(members(span.get("references")))
    trace = span.get("traceID")
    for place, one in enumerate(listed):
        if one.get("refType") == "CHILD_OF" and one.get("traceID", trace) == trace:
            return text(one.get("spanID")), listed[:place] + listed[place + 1 :]
    return text(span.get("parentSpanID")) or None, listed


def _span(span: Mapping[str, Any], process: Mapping[str, Any], rows: SpanRows) -> None:
    tags, tagged = _tags(span.get("tags")), _tags(process.get("tags"))
    service = text(process.get("serviceName"))
    pid = int64_or_none(tagged.get("pid", tagged.get("process.pid")))
    host = text(tagged.get("hostname", tagged.get("host.name")))
    track = rows.track("service", service or "", pid, host)
    rest = {name: value for name, value in span.items() if name not in _SHOWN and value not in (None, [], {})}
    of_process = {"process": _shown(process.get("tags"), tagged)} if tagged else {}
    args = {**_shown(span.get("tags"), tags), **rest, **of_process}
    parent, links = _references(span)
    if links:
        args["references"] = links
    start, dur = int64_or_none(span.get("startTime")), int64_or_none(span.get("duration"))
    failed = tags.get("error") in (True, "true") or tags.get("otel.status_code") == "ERROR"
    shared = {"cat": text(tags.get("otel.scope.name", tags.get("otel.library.name"))), "pid": pid, "track": track}
    shared |= {"tid": int64_or_none(tags.get("thread.id")), "service": service}
    ids = {"trace_id": text(span.get("traceID")), "span_id": text(span.get("spanID"))}
    row = {
        TS: None if start is None else start * 1000,
        "dur": None if dur is None else dur * 1000,
        "name": text(span.get("operationName")),
        "args": args,
        "parent_span_id": parent,
        "kind": text(tags.get("span.kind")),
        "status": "error" if failed else "unset",
    }
    rows.add("span", {**shared, **ids, **row})
    for log in members(span.get("logs")):
        fields = _tags(log.get("fields"))
        ts = int64_or_none(log.get("timestamp"))
        name = text(fields.get("event", fields.get("message")))
        shown = _shown(log.get("fields"), fields)
        rows.add("span_event", {**shared, **ids, TS: None if ts is None else ts * 1000, "name": name, "args": shown})
