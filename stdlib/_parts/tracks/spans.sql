-- Services, each in a process on a host, and their metrics.
-- formats: otlp, jaeger
SELECT track, IF(kind = 'counter', kind, 'service') AS kind, name, pid, host FROM _tables.tracks
