-- Services, each in one process on one host, and their metrics.
-- formats: otlp, jaeger
SELECT track, IF(kind = 'counter', kind, 'service') AS kind, name, pid, host, unit FROM _tables.tracks
