-- Events of spans, and logs.
-- formats: otlp, jaeger
SELECT _ts, line, track, name, cat AS category, args FROM _events.span_event
UNION ALL
SELECT _ts, line, track, name, cat, args FROM _events.log
