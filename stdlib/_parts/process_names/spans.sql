-- Services whose process is told.
-- formats: otlp, jaeger
SELECT pid, name, host FROM _tables.tracks WHERE kind = 'service' AND pid IS NOT NULL
