-- Spans of services, which overlap where requests do.
-- formats: otlp, jaeger
SELECT EVENT line, dur, track, name, cat AS category, args FROM _events.span
