"""Convert spans, logs and metrics of OTLP as JSON to rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dctv.readers.service_spans.spans import SpanRows, int64_or_none, members, text
from dctv.types.schema import TS

_KINDS = ("unspecified", "internal", "server", "client", "producer", "consumer")
_STATES = ("unset", "ok", "error")
_POINTS = ("gauge", "sum", "histogram", "exponentialHistogram", "summary")


def _attributes(value: object) -> dict[str, Any]:
    """Convert a list of keys and typed values to a plain object."""
    return {str(one.get("key")): _plain(one.get("value")) for one in members(value)}


def _plain(value: object) -> Any:
    if value == {}:
        return None
    if not isinstance(value, dict) or len(value) != 1:
        return value
    [(kind, inner)] = value.items()
    match kind:
        case "intValue":
            number = int64_or_none(inner)
            return inner if number is None else number
        case "arrayValue":
            return [_plain(one) for one in inner.get("values") or []] if isinstance(inner, dict) else inner
        case "kvlistValue":
            return _attributes(inner.get("values")) if isinstance(inner, dict) else inner
        case _:
            return inner


def _named(value: object, names: tuple[str, ...], prefix: str) -> str | None:
    """Return the name of an enumerated value, given as a number or by its name in the schema."""
    number = int64_or_none(value)
    if number is not None:
        return names[number] if 0 <= number < len(names) else str(number)
    found = text(value)
    return None if found is None else found.removeprefix(prefix).lower()


class _Resource:
    """The resource of a span, log record or metric."""

    def __init__(self, value: Mapping[str, Any], rows: SpanRows) -> None:
        resource = value.get("resource")
        self.attributes = _attributes(resource.get("attributes") if isinstance(resource, dict) else None)
        self.service = text(self.attributes.get("service.name"))
        self.pid = int64_or_none(self.attributes.get("process.pid"))
        self.host = text(self.attributes.get("host.name"))
        self.track = rows.track("service", self.service or "", self.pid, self.host)

    def row(self, one: Mapping[str, Any], scope: str | None, ts: object, name: object) -> dict[str, Any]:
        """Return the columns that all rows have."""
        attributes = _attributes(one.get("attributes"))
        args = {**attributes, **({"resource": self.attributes} if self.attributes else {})}
        tid = int64_or_none(attributes.get("thread.id"))
        shared = {
            TS: int64_or_none(ts),
            "name": text(name),
            "cat": scope,
            "pid": self.pid,
            "tid": tid,
            "track": self.track,
        }
        return {**shared, "args": args, "service": self.service}


def add_resource(member: str, element: Any, rows: SpanRows) -> None:
    """Convert the data of one resource to rows."""
    kinds = {"resourceSpans": ("scopeSpans", "spans"), "resourceLogs": ("scopeLogs", "logRecords")}
    kinds["resourceMetrics"] = ("scopeMetrics", "metrics")
    if member not in kinds or not isinstance(element, dict):
        rows.skip(f"unknown member `{member[:50]}`" if member not in kinds else "element is not an object")
        return
    resource = _Resource(element, rows)
    scopes, things = kinds[member]
    old = "instrumentationLibrary" + scopes.removeprefix("scope")
    for scope in members(element.get(scopes, element.get(old))):
        value = scope.get("scope", scope.get("instrumentationLibrary"))
        name = text(value.get("name")) if isinstance(value, dict) else None
        for one in members(scope.get(things)):
            _TAKE[member](one, resource, name, rows)


def _span(one: Mapping[str, Any], resource: _Resource, scope: str | None, rows: SpanRows) -> None:
    start, end = int64_or_none(one.get("startTimeUnixNano")), int64_or_none(one.get("endTimeUnixNano"))
    row = resource.row(one, scope, start, one.get("name"))
    value = one.get("status")
    status = value if isinstance(value, dict) else {}
    row["args"] |= {name: one[name] for name in ("links", "traceState", "flags") if one.get(name)}
    if status.get("message"):
        row["args"]["status.message"] = status["message"]
    ids = {"trace_id": text(one.get("traceId")), "span_id": text(one.get("spanId"))}
    more = {
        "parent_span_id": text(one.get("parentSpanId")) or None,
        "kind": _named(one.get("kind", 0), _KINDS, "SPAN_KIND_"),
        "status": _named(status.get("code", 0), _STATES, "STATUS_CODE_"),
    }
    dur = end - start if start is not None and end else None
    rows.add("span", {**row, **ids, **more, "dur": dur})
    for event in members(one.get("events")):
        inner = resource.row(event, scope, event.get("timeUnixNano"), event.get("name"))
        rows.add("span_event", {**inner, **ids})


def _log(one: Mapping[str, Any], resource: _Resource, scope: str | None, rows: SpanRows) -> None:
    ts = int64_or_none(one.get("timeUnixNano")) or one.get("observedTimeUnixNano")
    body = _plain(one.get("body"))
    row = resource.row(one, scope, ts, one.get("eventName") or body)
    shown = text(body)
    if body is not None and (shown is None or shown != row["name"]):
        row["args"]["body"] = body
    ids = {"trace_id": text(one.get("traceId")) or None, "span_id": text(one.get("spanId")) or None}
    rows.add("log", {**row, **ids, "severity": text(one.get("severityText") or one.get("severityNumber"))})


def _metric(one: Mapping[str, Any], resource: _Resource, scope: str | None, rows: SpanRows) -> None:
    unit = text(one.get("unit")) or None
    if not any(kind in one for kind in _POINTS):
        rows.skip("metric without data points")
    for kind in _POINTS:
        found = one.get(kind)
        for point in members(found.get("dataPoints") if isinstance(found, dict) else None):
            values = [("", point.get("asDouble", point.get("asInt")))] if kind in {"gauge", "sum"} else []
            values = values or [(f".{part}", point[part]) for part in ("count", "sum") if part in point]
            for part, value in values:
                row = resource.row(point, scope, point.get("timeUnixNano"), f"{one.get('name')}{part}")
                series = json.dumps([scope, row["args"]], sort_keys=True)
                track = rows.track("counter", row["name"], resource.pid, resource.host, unit, series)
                rows.add("metric", {**row, "track": track, "value": _number(value), "unit": unit})


def _number(value: object) -> float | None:
    try:
        return float(value) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError):
        return None


_TAKE = {"resourceSpans": _span, "resourceLogs": _log, "resourceMetrics": _metric}
