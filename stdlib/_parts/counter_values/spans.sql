-- Data points of metrics.
-- formats: otlp, jaeger
SELECT EVENT line, track, value FROM _events.metric
