-- Time of functions and slices: with what they call, without it, and how often they were called.
-- formats: chrome-json, ctf, dftracer, ftrace-graph, ftrace-text, jaeger, otlp, perfetto, records, trace-dat, uftrace, arrow, csv, json-lines, parquet, sqlite
-- better none: calls
SELECT name, total, self, count AS calls FROM t.calls.by_function
