-- What events of the trace are on: threads, async ids, counters; see `slices`, `async_slices`, `counters`, `instants`.
-- formats: *
-- column track: the track's number
-- column kind: `thread`, `process`, `async`, `counter` or another word
-- column name: its name, or NULL
-- column parent: the track that it belongs to, or NULL
-- column tid: its thread, or NULL
-- column pid: its process, or NULL
-- column thread: the name of its thread, or NULL
-- column process: the name of its process, or NULL
-- column host: the machine, NULL if the trace has only one or does not tell
-- column unit: of a counter, if the trace has it
SELECT k.track, k.kind, COALESCE(k.name, CASE WHEN k.kind = 'thread' THEN t.name END) AS name, k.parent,
  k.tid, COALESCE(k.pid, t.pid) AS pid, t.name AS thread, COALESCE(p.name, t.process) AS process, k.host, k.unit
FROM _parts.tracks AS k
LEFT JOIN threads AS t ON t.tid = k.tid AND t.host <=> k.host AND (t.pid = k.pid OR k.pid IS NULL OR t.pid IS NULL)
LEFT JOIN processes AS p ON p.pid = COALESCE(k.pid, t.pid) AND p.host <=> k.host
QUALIFY ROW_NUMBER() OVER (PARTITION BY k.track ORDER BY t.pid NULLS LAST, k.kind, k.name) = 1
ORDER BY k.track
