-- What SurfaceFlinger did to put frames on the screen: the outermost slices of its main thread that commit or compose them.
-- formats: *
-- column _ts: when it begins
-- column _duration: how long it takes, NULL if nothing ends it
-- column tid: the thread
-- column pid: the process
-- column frame: the number that the system gave it, if the mark tells
-- column name: the slice's name
-- column id: the slice's number, see `slices`
SELECT _ts, _duration, tid, pid, TRY_CAST(NULLIF(REGEXP_EXTRACT(name, '^[A-Za-z:]+ ([0-9]+)', 1), '') AS INT64) AS frame, name, id
FROM slices
WHERE depth = 0 AND (process REGEXP 'surfaceflinger$' OR thread REGEXP 'surfaceflinger$')
  AND name REGEXP '^(onMessageReceived|onMessageInvalidate|onMessageRefresh|handleMessageInvalidate|handleMessageRefresh|commit|composite|onVsyncReceived|INVALIDATE|REFRESH)'
ORDER BY _ts, tid
