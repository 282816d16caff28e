"""OTLP and Jaeger documents: rows, times, attributes, what is counted, and damaged files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.readers import jaeger, otlp
from dctv.session import Session
from tests.bounds import bounded
from tests.damage import flipped, survives, truncated

T = 1_754_000_000_000_000_000


def attribute(key: str, **value: Any) -> dict[str, Any]:
    return {"key": key, "value": value}


OTLP: dict[str, Any] = {
    "resourceSpans": [
        {
            "resource": {
                "attributes": [attribute("service.name", stringValue="shop"), attribute("process.pid", intValue="42")]
            },
            "scopeSpans": [
                {
                    "scope": {"name": "http"},
                    "spans": [
                        {
                            "traceId": "aa",
                            "spanId": "01",
                            "name": "GET /",
                            "kind": 2,
                            "startTimeUnixNano": str(T),
                            "endTimeUnixNano": str(T + 1500),
                            "attributes": [
                                attribute("thread.id", intValue="7"),
                                attribute("tags", arrayValue={"values": [{"stringValue": "a"}, {"boolValue": True}]}),
                            ],
                            "events": [{"timeUnixNano": str(T + 500), "name": "cache miss"}],
                            "status": {"code": "STATUS_CODE_ERROR", "message": "späť"},
                        },
                        {
                            "traceId": "aa",
                            "spanId": "02",
                            "parentSpanId": "01",
                            "name": "SELECT",
                            "kind": "SPAN_KIND_CLIENT",
                            "startTimeUnixNano": T + 100,
                            "endTimeUnixNano": T + 900,
                        },
                        {"traceId": "aa", "spanId": "03", "name": "no time"},
                    ],
                }
            ],
        }
    ]
}
LOGS = {
    "resourceLogs": [
        {
            "scopeLogs": [
                {"logRecords": [{"timeUnixNano": str(T + 5), "severityText": "WARN", "body": {"stringValue": "slow"}}]}
            ]
        }
    ]
}
METRICS = {
    "resourceMetrics": [
        {
            "scopeMetrics": [
                {
                    "metrics": [
                        {
                            "name": "rss",
                            "unit": "By",
                            "gauge": {"dataPoints": [{"timeUnixNano": str(T), "asInt": "5"}]},
                        },
                        {
                            "name": "latency",
                            "histogram": {"dataPoints": [{"timeUnixNano": str(T + 1), "count": "3", "sum": 4.5}]},
                        },
                    ]
                }
            ]
        }
    ]
}
JAEGER: dict[str, Any] = {
    "data": [
        {
            "traceID": "bb",
            "spans": [
                {
                    "traceID": "bb",
                    "spanID": "01",
                    "operationName": "root",
                    "references": [],
                    "startTime": 1_754_000_000_000_000,
                    "duration": 30,
                    "tags": [{"key": "span.kind", "type": "string", "value": "server"}],
                    "logs": [{"timestamp": 1_754_000_000_000_010, "fields": [{"key": "event", "value": "tick"}]}],
                    "processID": "p1",
                },
                {
                    "traceID": "bb",
                    "spanID": "02",
                    "operationName": "leaf",
                    "references": [{"refType": "CHILD_OF", "traceID": "bb", "spanID": "01"}],
                    "startTime": 1_754_000_000_000_005,
                    "duration": 20,
                    "processID": "p1",
                },
            ],
            "processes": {"p1": {"serviceName": "front", "tags": [{"key": "hostname", "value": "h1"}]}},
        }
    ],
    "total": 0,
}


def rows(session: Session, sql: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = session.sql(sql).arrow().to_pylist()
    return found


@pytest.mark.parametrize("form", ["document", "pretty", "lines", "gzip"])
def test_spans_of_otlp(form: str, tmp_path: Path) -> None:
    whole = "\n".join(json.dumps(one) for one in (OTLP, LOGS, METRICS))
    text = json.dumps({**OTLP, **LOGS, **METRICS}, indent=2 if form == "pretty" else None) if form != "lines" else whole
    path = tmp_path / "t.json"
    path.write_bytes(gzip.compress(text.encode()) if form == "gzip" else text.encode())
    with Session() as session:
        session.mount(str(path), "t")
        found = rows(
            session, "SELECT _ts, dur, name, cat, pid, tid, parent_span_id, kind, status FROM t.raw_events.span"
        )
        first = {"_ts": 0, "dur": 1500, "name": "GET /", "cat": "http", "pid": 42, "tid": 7, "parent_span_id": None}
        second = {"_ts": 100, "dur": 800, "name": "SELECT", "cat": "http", "pid": 42, "tid": None}
        assert found == [
            {**first, "kind": "server", "status": "error"},
            {**second, "parent_span_id": "01", "kind": "client", "status": "unset"},
        ]
        [args] = rows(session, "SELECT args FROM t.raw_events.span WHERE name = 'GET /'")
        assert json.loads(args["args"])["tags"] == ["a", True]
        assert json.loads(args["args"])["status.message"] == "späť"
        assert rows(session, "SELECT _ts, name FROM t.raw_events.span_event") == [{"_ts": 500, "name": "cache miss"}]
        assert rows(session, "SELECT _ts, name, severity FROM t.raw_events.log") == [
            {"_ts": 5, "name": "slow", "severity": "WARN"}
        ]
        assert rows(session, "SELECT _ts, name, value, unit FROM t.raw_events.metric") == [
            {"_ts": 0, "name": "rss", "value": 5.0, "unit": "By"},
            {"_ts": 1, "name": "latency.count", "value": 3.0, "unit": None},
            {"_ts": 1, "name": "latency.sum", "value": 4.5, "unit": None},
        ]
        assert rows(session, "SELECT reason, count FROM t.diagnostics") == [
            {"reason": "span without a time", "count": 1}
        ]
        assert rows(session, "SELECT value FROM t.properties WHERE key = 'start_unix_ns'") == [{"value": str(T)}]
        tracks = rows(session, "SELECT kind, name, pid FROM t.tracks WHERE pid IS NOT NULL")
        assert tracks == [{"kind": "service", "name": "shop", "pid": 42}]
        assert rows(session, "SELECT _ts, _duration, depth, name FROM t.slices") == [
            {"_ts": 0, "_duration": 1500, "depth": 0, "name": "GET /"},
            {"_ts": 100, "_duration": 800, "depth": 1, "name": "SELECT"},
        ]
        assert rows(session, "SELECT _ts, name FROM t.instants") == [
            {"_ts": 5, "name": "slow"},
            {"_ts": 500, "name": "cache miss"},
        ]
        assert rows(session, "SELECT name, value FROM t.counters ORDER BY name") == [
            {"name": "latency.count", "value": 3.0},
            {"name": "latency.sum", "value": 4.5},
            {"name": "rss", "value": 5.0},
        ]


@pytest.mark.parametrize(
    ("record", "name", "args"),
    [
        ({"body": {"stringValue": "slow"}}, "slow", {}),
        ({"body": {"intValue": "7"}}, "7", {}),
        ({"body": {"kvlistValue": {"values": [attribute("k", intValue="1")]}}}, None, {"body": {"k": 1}}),
        ({"body": {"arrayValue": {"values": [{"stringValue": "a"}]}}}, None, {"body": ["a"]}),
        ({"body": {"kvlistValue": {"values": []}}, "eventName": "e"}, "e", {"body": {}}),
        ({"body": {"stringValue": "slow"}, "eventName": "e"}, "e", {"body": "slow"}),
        ({"eventName": "e"}, "e", {}),
        ({}, None, {}),
    ],
)
def test_bodies_of_logs(record: dict[str, Any], name: str | None, args: dict[str, Any], tmp_path: Path) -> None:
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"timeUnixNano": str(T), **record}]}]}]}
    (tmp_path / "t.json").write_text(json.dumps(logs))
    with Session() as session:
        session.mount(str(tmp_path / "t.json"), "t")
        [found] = rows(session, "SELECT name, args FROM t.raw_events.log")
    assert (found["name"], json.loads(found["args"])) == (name, args)


def test_spans_of_jaeger(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps(JAEGER))
    with Session() as session:
        session.mount(str(tmp_path / "t.json"), "t")
        assert rows(session, "SELECT _ts, dur, name, service, parent_span_id, kind FROM t.raw_events.span") == [
            {"_ts": 0, "dur": 30_000, "name": "root", "service": "front", "parent_span_id": None, "kind": "server"},
            {"_ts": 5000, "dur": 20_000, "name": "leaf", "service": "front", "parent_span_id": "01", "kind": None},
        ]
        assert rows(session, "SELECT _ts, name FROM t.raw_events.span_event") == [{"_ts": 10_000, "name": "tick"}]
        assert rows(session, "SELECT kind, name FROM t.tracks") == [{"kind": "service", "name": "front"}]
        assert rows(session, "SELECT * FROM t.diagnostics") == []


def tags(*pairs: tuple[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": value} for key, value in pairs]


def test_tags_of_jaeger_that_repeat(tmp_path: Path) -> None:
    span = JAEGER["data"][0]["spans"][0] | {
        "tags": tags(
            ("peer", "a"),
            ("span.kind", "client"),
            ("peer", "b"),
            ("same", 1),
            ("same", 1),
            ("flag", 1),
            ("flag", True),
            ("span.kind", "server"),
        ),
        "logs": [{"timestamp": 1_754_000_000_000_010, "fields": tags(("event", "x"), ("event", "y"), ("k", None))}],
    }
    process = {"serviceName": "front", "tags": tags(("ip", "1.2.3.4"), ("ip", "5.6.7.8"), ("hostname", "h1"))}
    trace = {"traceID": "bb", "spans": [span], "processes": {"p1": process}}
    (tmp_path / "t.json").write_text(json.dumps({"data": [trace]}))
    with Session() as session:
        session.mount(str(tmp_path / "t.json"), "t")
        [found] = rows(session, "SELECT kind, args FROM t.raw_events.span")
        [log] = rows(session, "SELECT name, args FROM t.raw_events.span_event")
    assert found["kind"] == "server"
    # Compared as text, since 1 == True.
    assert found["args"] == json.dumps(
        {
            "peer": ["a", "b"],
            "span.kind": ["client", "server"],
            "same": 1,
            "flag": [1, True],
            "process": {"ip": ["1.2.3.4", "5.6.7.8"], "hostname": "h1"},
        },
        separators=(",", ":"),
    )
    assert (log["name"], json.loads(log["args"])) == ("y", {"event": ["x", "y"], "k": None})


def test_a_bad_line_is_counted_and_the_next_one_read(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(f"{json.dumps(LOGS)}\n{{oops}}\n{json.dumps(LOGS)}\n")
    with Session() as session:
        session.mount(str(tmp_path / "t.jsonl"), "t")
        assert len(rows(session, "SELECT * FROM t.raw_events.log")) == 2
        assert rows(session, "SELECT reason, count FROM t.diagnostics") == [{"reason": "text is not JSON", "count": 1}]


def test_a_file_that_ends_early_says_so(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps({**LOGS, **OTLP})[:-40])
    with Session() as session:
        session.mount(str(tmp_path / "t.json"), "t")
        assert len(rows(session, "SELECT * FROM t.raw_events.log")) == 1
        assert rows(session, "SELECT reason FROM t.diagnostics WHERE incomplete") == [
            {"reason": "the file ends inside of a value"}
        ]


@pytest.mark.parametrize(("reader", "document"), [(otlp.READER, OTLP), (jaeger.READER, JAEGER)])
def test_every_beginning_of_a_document(reader: Any, document: Any, tmp_path: Path) -> None:
    for part in truncated(json.dumps(document).encode()):
        survives(reader, tmp_path / "damaged", part)


@given(
    chosen=st.sampled_from([(otlp.READER, {**OTLP, **LOGS, **METRICS}), (jaeger.READER, JAEGER)]),
    places=st.lists(st.tuples(st.integers(0, 4096), st.integers(0, 255)), min_size=1, max_size=6),
)
@bounded(150)
def test_documents_with_flipped_bytes(
    chosen: tuple[Any, Any], places: list[tuple[int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    reader, document = chosen
    data = flipped(json.dumps(document).encode(), *places)
    survives(reader, tmp_path_factory.getbasetemp() / "flipped", data)
