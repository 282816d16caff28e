-- Function calls recorded by a function tracer; in traces without these, the slices of threads.
-- formats: *
-- column _ts: time of the call
-- column _duration: duration, NULL if it did not return
-- column id: the call's number, in order of `_ts` unless the trace numbers its calls
-- column parent_id: the enclosing call, or NULL
-- column depth: number of enclosing calls
-- column tid: the thread
-- column pid: its process, or NULL
-- column name: the function
-- column module: the program or library that contains it, or NULL
-- column args: its arguments as text, `(1, "x")` from function tracers, or NULL
-- column retval: its return value as text, or NULL
-- column state: NULL if its begin and end were recorded; otherwise `open`, `left`, `lost`, `entered` or `inherited`, as in the tables of uftrace traces
WITH recorded AS (
  SELECT _ts, _duration, id, parent_id, depth, tid, pid, name, module, args, retval, state
  FROM dctv.nested_slices(completes=>(SELECT * FROM _parts.calls WHERE call IS NULL), partition=>"tid")
)
SELECT * FROM recorded
UNION ALL
SELECT _ts, dur, call, caller, depth, tid, pid, name, module, args, retval, state FROM _parts.calls WHERE call IS NOT NULL
UNION ALL
SELECT _ts, _duration, id, parent_id, depth, tid, pid, name, NULL,
  CASE WHEN arguments LIKE '(%)' THEN arguments WHEN NOT returns THEN text END,
  CASE WHEN arguments LIKE '(%)' OR returns THEN JSON_EXTRACT_STRING(text, '$.retval') END, NULL::STRING
FROM (
  SELECT *, CASE WHEN text LIKE '%"arguments"%' AND JSON_VALID(text) THEN JSON_EXTRACT_STRING(text, '$.arguments') END AS arguments,
    COALESCE(text LIKE '{"retval":"%' AND JSON_VALID(text), FALSE) AS returns
  FROM (SELECT _ts, _duration, id, parent_id, depth, tid, pid, name, args::STRING AS text FROM slices)
)
WHERE NOT EXISTS (SELECT 1 FROM _parts.calls)
ORDER BY id
