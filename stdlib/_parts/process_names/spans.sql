-- Services whose process is recorded.
-- formats: otlp, jaeger
SELECT pid, name, host FROM _tables.tracks WHERE kind = 'service' AND pid IS NOT NULL
