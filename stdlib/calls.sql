-- Calls of functions: those that a tracer of functions recorded; in traces without them, the slices of threads.
-- formats: *
-- column _ts: when it was called
-- column _duration: how long it took, NULL if it did not return
-- column id: the call's number, in order of `_ts` unless the trace has numbers
-- column parent_id: the call that it is in, or NULL
-- column depth: how many calls it is in
-- column tid: the thread
-- column pid: its process, or NULL
-- column name: the function
-- column module: the program or library that it is in, or NULL
-- column args: its arguments as text, `(1, "x")` where a tracer of functions tells them, or NULL
-- column retval: what it returned as text, or NULL
-- column state: NULL unless its begin or its end was not recorded: `open`, `left`, `lost`, `entered` or `inherited`, as uftrace's reader has them
WITH told AS (
  SELECT _ts, _duration, id, parent_id, depth, tid, pid, name, module, args, retval, state
  FROM dctv.nested_slices(completes=>(SELECT * FROM _parts.calls WHERE call IS NULL), partition=>"tid")
)
SELECT * FROM told
UNION ALL
SELECT _ts, dur, call, caller, depth, tid, pid, name, module, args, retval, state FROM _parts.calls WHERE call IS NOT NULL
UNION ALL
SELECT _ts, _duration, id, parent_id, depth, tid, pid, name, NULL,
  CASE WHEN arguments LIKE '(%)' THEN arguments WHEN NOT returns THEN told END,
  CASE WHEN arguments LIKE '(%)' OR returns THEN JSON_EXTRACT_STRING(told, '$.retval') END, NULL::STRING
FROM (
  SELECT *, CASE WHEN told LIKE '%"arguments"%' AND JSON_VALID(told) THEN JSON_EXTRACT_STRING(told, '$.arguments') END AS arguments,
    COALESCE(told LIKE '{"retval":"%' AND JSON_VALID(told), FALSE) AS returns
  FROM (SELECT _ts, _duration, id, parent_id, depth, tid, pid, name, args::STRING AS told FROM slices)
)
WHERE NOT EXISTS (SELECT 1 FROM _parts.calls)
ORDER BY id
