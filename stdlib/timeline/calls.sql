-- Tracks of a timeline: function calls recorded by a function tracer, by thread, or by CPU if the CPU is idle; see `calls`. A call whose exit was lost lasts until the next one of its thread and depth.
-- formats: ctf, ftrace-graph, ftrace-text, perf-data, perf-script, perfetto, trace-dat, uftrace
-- rows of: calls by id
-- columns of: timeline.slices
WITH found AS (
  SELECT _ts, _duration, id, depth, tid, name
  FROM dctv.nested_slices(completes=>(SELECT * FROM _parts.calls WHERE call IS NULL), partition=>"tid")
  UNION ALL
  SELECT _ts, COALESCE(dur, LEAD(_ts) OVER (PARTITION BY tid, depth ORDER BY _ts, call) - _ts), call, depth, tid, name
  FROM _parts.calls WHERE call IS NOT NULL
)
SELECT f._ts, f._duration,
  CASE
    WHEN f.tid < 0 THEN LIST_VALUE('CPUs', 'CPU ' || (-1 - f.tid)::STRING, 'Calls')
    ELSE COALESCE(t.path, LIST_VALUE('Threads', COALESCE(f.tid::STRING, 'no thread'), 'Calls')) END AS path,
  'slices' AS kind,
  CASE WHEN f.tid < 0 THEN LIST_VALUE(0, -1 - f.tid, 5)::INT64[] ELSE COALESCE(t.ranks, LIST_VALUE(2, NULL, 2)::INT64[]) END AS ranks,
  f.depth::INT64 AS depth, f.name, NULL::FLOAT64 AS value, NULL::STRING AS unit, f.id
FROM found AS f
LEFT JOIN (
  SELECT tid, LIST_APPEND(path, 'Calls') AS path, LIST_APPEND(ranks, 2) AS ranks FROM _built.timeline_owners
  WHERE host IS NULL AND pid IS NULL
) AS t ON t.tid = f.tid
ORDER BY f._ts, f.id
