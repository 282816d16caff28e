-- Tracks of a timeline: the slices of each thread, or of what else they are on, see `slices`. Those that are calls of functions are in `timeline.calls`.
-- formats: arrow, chrome-json, collapsed-stacks, csv, ctf, dftracer, ftrace-graph, ftrace-text, jaeger, json-lines, otlp, parquet, perf-data, perf-script, perfetto, records, sqlite, trace-dat, v8-profile
-- rows of: slices by id
-- column _ts: when it begins
-- column _duration: how long it lasts, 0 for moments, NULL if nothing ends it
-- column path: where its track is: the names of the groups that it is in, from the root, and its own
-- column kind: what its track is made of: `slices`, `states`, `counter` or `instants`
-- column ranks: for each name of `path` its place among its siblings, smallest first; those with NULL come after, the busiest first
-- column depth: the lane that it is on, counted from 0, if that is free, else the next one that is; NULL for the first that is free
-- column name: what it is called, NULL for counters
-- column value: of a counter
-- column unit: of the counter's values, if it is known
SELECT s._ts, s._duration, COALESCE(t.path, LIST_VALUE('Slices')) AS path, 'slices' AS kind,
  COALESCE(t.ranks, LIST_VALUE(4)::INT64[]) AS ranks, s.depth::INT64 AS depth, s.name,
  NULL::FLOAT64 AS value, NULL::STRING AS unit, s.id
FROM _built.slices AS s
LEFT JOIN (
  -- Slices of several tracks do not nest.
  SELECT track, LIST_APPEND(path, CASE WHEN copy = 1 THEN 'Slices' ELSE 'Slices ' || copy::STRING END) AS path,
    LIST_APPEND(ranks, 1) AS ranks
  FROM _built.timeline_tracks
) AS t ON t.track = s.track
ORDER BY s._ts, s.id
