"""Parts of OTLP and Jaeger documents that are easily lost or mixed: references, bodies, series of metrics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dctv.session import Session

T = 1_754_000_000_000_000_000


def queried(path: Path, document: Any, *queries: str) -> list[list[dict[str, Any]]]:
    path.write_text(json.dumps(document))
    with Session(index=False) as session:
        session.mount(str(path), "t")
        return [session.sql(query).arrow().to_pylist() for query in queries]


def jaeger(*spans: dict[str, Any]) -> dict[str, Any]:
    shared = {"traceID": "t", "processID": "p", "startTime": T // 1000, "duration": 5}
    processes = {"p": {"serviceName": "shop"}}
    return {"data": [{"traceID": "t", "spans": [{**shared, **span} for span in spans], "processes": processes}]}


def otlp(kind: str, things: str, *listed: dict[str, Any], service: str = "shop") -> dict[str, Any]:
    attributes = [{"key": "service.name", "value": {"stringValue": service}}]
    return {f"resource{kind}": [{"resource": {"attributes": attributes}, f"scope{kind}": [{things: list(listed)}]}]}


def span(name: str, number: int, start: int, end: int, **more: Any) -> dict[str, Any]:
    times = {"startTimeUnixNano": str(T + start), "endTimeUnixNano": str(T + end)}
    return {"traceId": "t", "spanId": str(number), "name": name, **times, **more}


DIAGNOSTICS = "SELECT reason, count FROM t.diagnostics ORDER BY reason"


def test_references_of_jaeger(tmp_path: Path) -> None:
    def reference(kind: str, trace: str, number: str) -> dict[str, str]:
        return {"refType": kind, "traceID": trace, "spanID": number}

    other, second = reference("CHILD_OF", "u", "1"), reference("CHILD_OF", "t", "3")
    after = reference("FOLLOWS_FROM", "t", "1")
    document = jaeger(
        {"spanID": "1", "operationName": "root"},
        {"spanID": "2", "operationName": "b", "references": [other, reference("CHILD_OF", "t", "1"), second, after]},
        {"spanID": "3", "operationName": "c", "references": [other]},
        {"spanID": "4", "operationName": "d", "parentSpanID": "1"},
    )
    spans, flows = queried(
        tmp_path / "x.json",
        document,
        "SELECT name, parent_span_id AS parent, args->'references' AS rest FROM t.raw_events.span ORDER BY name",
        "SELECT from_name, to_name FROM t.flows ORDER BY to_name",
    )
    assert [(row["name"], row["parent"], row["rest"] and json.loads(row["rest"])) for row in spans] == [
        ("b", "1", [other, second, after]),
        ("c", None, [other]),
        ("d", "1", None),
        ("root", None, None),
    ]
    assert [(row["from_name"], row["to_name"]) for row in flows] == [("root", "b"), ("root", "d")]


def test_odd_values_of_jaeger(tmp_path: Path) -> None:
    tags = [
        {"key": "error", "value": [1]},
        {"key": "nan", "value": float("nan")},
        {"key": "\ud800", "value": "\udc00"},
    ]
    bad = {"spanID": "2", "startTime": "--5"}
    args, lost = queried(
        tmp_path / "x.json",
        jaeger({"spanID": "1", "operationName": "a", "tags": tags}, bad),
        "SELECT args FROM t.slices",
        DIAGNOSTICS,
    )
    assert json.loads(args[0]["args"]) == {"error": [1], "nan": "NaN", "?": "?"}
    assert lost == [{"reason": "span without a time", "count": 1}]


def test_spans_that_end_before_they_begin_stay(tmp_path: Path) -> None:
    slices, lost, flows = queried(
        tmp_path / "x.json",
        otlp("Spans", "spans", span("back", 1, 10, 5), span("self", 2, 10, 20, parentSpanId="2")),
        "SELECT name, _duration FROM t.slices ORDER BY name",
        DIAGNOSTICS,
        "SELECT * FROM t.flows",
    )
    assert slices == [{"name": "back", "_duration": None}, {"name": "self", "_duration": 10}]
    assert lost == [{"reason": "span ends before it begins, its duration is NULL", "count": 1}]
    assert flows == []


def test_bodies_of_logs(tmp_path: Path) -> None:
    time = {"timeUnixNano": str(T)}
    [rows] = queried(
        tmp_path / "x.json",
        otlp(
            "Logs",
            "logRecords",
            {**time, "body": {"stringValue": "text"}},
            {**time, "body": {"intValue": "5"}, "eventName": "named"},
            {**time, "body": {"boolValue": True}},
            {**time, "body": {}, "attributes": [{"key": "none", "value": {}}]},
        ),
        "SELECT name, args FROM t.raw_events.log ORDER BY line",
    )
    found = [(row["name"], {k: v for k, v in json.loads(row["args"]).items() if k != "resource"}) for row in rows]
    assert found == [("text", {}), ("named", {"body": 5}), ("true", {}), (None, {"none": None})]


def test_series_of_metrics_are_apart(tmp_path: Path) -> None:
    def point(ts: int, value: int, core: str) -> dict[str, Any]:
        attributes = [{"key": "core", "value": {"stringValue": core}}]
        return {"timeUnixNano": str(T + ts), "asInt": str(value), "attributes": attributes}

    points = [point(0, 1, "a"), point(1, 2, "b"), point(10, 3, "a"), point(11, 4, "b")]
    metric = {"name": "load", "unit": "1", "gauge": {"dataPoints": points}}
    document = otlp("Metrics", "metrics", metric, {"name": "new", "kindOfLater": {}})
    document["resourceMetrics"] += otlp("Metrics", "metrics", metric, service="db")["resourceMetrics"]
    rows, lost = queried(
        tmp_path / "x.json",
        document,
        "SELECT track, _ts, _duration, value, unit FROM t.counters ORDER BY track, _ts",
        DIAGNOSTICS,
    )
    assert [(row["_ts"], row["_duration"], row["value"], row["unit"]) for row in rows] == [
        (0, 10, 1.0, "1"),
        (10, 1, 3.0, "1"),
        (1, 10, 2.0, "1"),
    ] * 2
    assert lost == [{"reason": "metric without data points", "count": 1}]


def test_spans_of_one_number_each_have_their_arrows(tmp_path: Path) -> None:
    """Client and server share a span in traces of Zipkin's kind."""
    shared = [span("client", 1, 0, 100), span("server", 1, 10, 90), span("late", 1, 50, 60)]
    [flows] = queried(
        tmp_path / "x.json",
        otlp("Spans", "spans", *shared, span("child", 2, 20, 30, parentSpanId="1")),
        "SELECT from_name, to_name FROM t.flows ORDER BY from_ts",
    )
    assert [(row["from_name"], row["to_name"]) for row in flows] == [("client", "child"), ("server", "child")]
