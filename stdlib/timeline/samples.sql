-- Tracks of a timeline: profiler samples of each thread, named by the innermost function; see `samples.samples`.
-- formats: *
-- rows of: samples.samples by line
-- columns of: timeline.slices
SELECT s._ts, 0::INT64 IN ns AS _duration, COALESCE(t.path, LIST_VALUE('Samples', COALESCE(s.comm, 'no thread'))) AS path,
  'instants' AS kind, COALESCE(t.ranks, LIST_VALUE(7, NULL)::INT64[]) AS ranks, NULL::INT64 AS depth,
  REGEXP_EXTRACT(s.stack, '[^;]*$') AS name, NULL::FLOAT64 AS value, NULL::STRING AS unit, s.line
FROM _parts.samples AS s
LEFT JOIN (
  SELECT pid, tid, LIST_APPEND(path, 'Samples') AS path, LIST_APPEND(ranks, 4) AS ranks FROM _built.timeline_owners
  WHERE host IS NULL AND tid IS NOT NULL
) AS t ON t.tid = s.tid AND t.pid <=> s.pid
ORDER BY s._ts, s.line
