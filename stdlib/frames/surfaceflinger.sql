-- Work of SurfaceFlinger to display frames: the outermost slices of its main thread that commit or compose them.
-- formats: *
-- column _ts: start time
-- column _duration: duration, NULL if it has no end
-- column tid: the thread
-- column pid: the process
-- column frame: its number, if the mark has one
-- column name: the slice's name
-- column id: the slice's number, see `slices`
SELECT _ts, _duration, tid, pid, TRY_CAST(NULLIF(REGEXP_EXTRACT(name, '^[A-Za-z:]+ ([0-9]+)', 1), '') AS INT64) AS frame, name, id
FROM slices
WHERE depth = 0 AND (process REGEXP 'surfaceflinger$' AND tid = pid OR thread REGEXP 'surfaceflinger$')
  AND name REGEXP '^(onMessageReceived|onMessageInvalidate|onMessageRefresh|handleMessageInvalidate|handleMessageRefresh|commit|composite|onVsyncReceived|INVALIDATE|REFRESH)'
ORDER BY _ts, tid
