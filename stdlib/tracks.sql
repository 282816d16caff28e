-- Tracks that events of the trace belong to: threads, async ids, counters; see `slices`, `async_slices`, `counters`, `instants`.
-- formats: *
-- materialized: session
-- key: track
-- column track: the track's number
-- column kind: `thread`, `process`, `async`, `counter` or another kind
-- column name: its name, or NULL
-- column parent: the track that it belongs to, or NULL
-- column tid: its thread, or NULL
-- column pid: its process, or NULL
-- column thread: the name of its thread, or NULL
-- column process: the name of its process or service, or NULL
-- column host: the machine, NULL if the trace has only one or does not name it
-- column unit: unit of a counter, or NULL
WITH owners AS (SELECT host, tid, MIN(pid) AS pid, MIN(name) AS name FROM threads GROUP BY host, tid),
whole AS (
  SELECT k.track, k.kind, k.name, k.parent, k.tid, COALESCE(k.pid, o.pid) AS pid, COALESCE(t.name, o.name) AS thread, k.host,
    k.unit
  FROM _parts.tracks AS k
  LEFT JOIN threads AS t ON t.tid = k.tid AND t.pid = k.pid AND t.host <=> k.host
  LEFT JOIN owners AS o ON o.tid = k.tid AND o.host <=> k.host AND k.pid IS NULL
)
SELECT w.track, w.kind, COALESCE(w.name, CASE WHEN w.kind = 'thread' THEN w.thread END) AS name, w.parent, w.tid, w.pid,
  w.thread, COALESCE(p.name, CASE WHEN w.kind = 'service' THEN w.name END) AS process, w.host, w.unit
FROM whole AS w LEFT JOIN processes AS p ON p.pid = w.pid AND p.host <=> w.host
