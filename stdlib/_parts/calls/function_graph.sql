-- Kernel functions from the function graph tracer: each entry with the next exit of its thread and depth. The duration is
-- the printed one, which may be finer than the times; entries of leaf functions may have it already. For the same reason
-- the caller is found by depth: it is the open call one level up. Times that were computed from durations give no
-- durations. If the thread is unknown, or is the idle one, `tid` is -1 - CPU.
-- formats: ftrace-text, ftrace-graph, perf-data, perf-script, perfetto, ctf
WITH edges AS (
  SELECT _ts, line, IF(common_pid > 0, common_pid, -1 - cpu) AS tid, common_tgid AS pid, depth, func, duration, params, retval,
    TRUE AS enters
  FROM _events.funcgraph_entry
  UNION ALL
  SELECT _ts, line, IF(common_pid > 0, common_pid, -1 - cpu), common_tgid, depth, func, duration, NULL, retval, FALSE
  FROM _events.funcgraph_exit
),
numbered AS (
  SELECT *, ROW_NUMBER() OVER (ORDER BY _ts, line, enters DESC, depth) AS place FROM edges
),
paired AS (
  SELECT *, LEAD(enters) OVER w AS next_enters, LEAD(_ts) OVER w AS end_ts, LEAD(place) OVER w AS end_place,
    LEAD(duration) OVER w AS whole, LEAD(retval) OVER w AS returned
  FROM numbered WINDOW w AS (PARTITION BY tid, depth ORDER BY place)
),
entered AS (
  SELECT *, ROW_NUMBER() OVER (ORDER BY place) AS call FROM paired WHERE enters
)
SELECT c._ts, c.line,
  COALESCE(c.duration, IF(c.next_enters, NULL, COALESCE(c.whole, IF(t.made, NULL, c.end_ts - c._ts)))) AS dur, c.tid, c.pid, c.depth,
  c.func AS name, 'kernel' AS module, c.params AS args,
  COALESCE(c.retval, IF(c.duration IS NULL AND NOT c.next_enters, c.returned, NULL)) AS retval, c.call,
  IF(p.end_place < c.place, NULL, p.call) AS caller
FROM entered AS c
CROSS JOIN (SELECT COUNT(*) > 0 AS made FROM properties WHERE key = 'clock' AND value = 'durations') AS t
ASOF LEFT JOIN (SELECT tid, depth + 1 AS below, place, end_place, call FROM entered WHERE duration IS NULL) AS p
ON p.tid = c.tid AND p.below = c.depth AND c.place >= p.place
