-- How long slices take: half of them, nineteen in twenty, and ninety-nine in a hundred take no longer than this.
-- formats: chrome-json, ctf, dftracer, ftrace-graph, ftrace-text, jaeger, otlp, perfetto, records, trace-dat, uftrace, arrow, csv, json-lines, parquet, sqlite
SELECT name, QUANTILE_DISC(_duration, 0.5) AS p50, QUANTILE_DISC(_duration, 0.95) AS p95, QUANTILE_DISC(_duration, 0.99) AS p99
FROM t.slices WHERE _duration IS NOT NULL GROUP BY name ORDER BY name
