-- Tracks of a timeline: slices of threads and of other tracks; see `slices`. Function calls are in `timeline.calls`.
-- formats: arrow, chrome-json, collapsed-stacks, csv, ctf, dftracer, ftrace-graph, ftrace-text, jaeger, json-lines, otlp, parquet, perf-data, perf-script, perfetto, records, sqlite, trace-dat, v8-profile
-- rows of: slices by id
-- column _ts: start time
-- column _duration: duration, 0 for instants, NULL if it has no end
-- column path: path of its track: the names of the enclosing groups, from the root, and its own name
-- column kind: kind of its track: `slices`, `states`, `counter` or `instants`
-- column ranks: rank among its siblings for each name of `path`, lowest first; those with NULL follow, busiest first
-- column depth: preferred lane, counted from 0; if that is occupied, the next free one; NULL for the first free lane
-- column name: its name, NULL for counters
-- column value: value of a counter
-- column unit: unit of the counter's values, or NULL
SELECT s._ts, s._duration, COALESCE(t.path, LIST_VALUE('Slices')) AS path, 'slices' AS kind,
  COALESCE(t.ranks, LIST_VALUE(4)::INT64[]) AS ranks, s.depth::INT64 AS depth, s.name,
  NULL::FLOAT64 AS value, NULL::STRING AS unit, s.id
FROM _built.slices AS s
LEFT JOIN (
  -- Slices of different tracks do not nest, so each track has a group of its own.
  SELECT track, LIST_APPEND(path, CASE WHEN copy = 1 THEN 'Slices' ELSE 'Slices ' || copy::STRING END) AS path,
    LIST_APPEND(ranks, 1) AS ranks
  FROM _built.timeline_tracks
) AS t ON t.track = s.track
ORDER BY s._ts, s.id
