-- Frames of `frames.app` that took longer than they may.
-- formats: *
-- parameter deadline ns = 16666667ns: how long a frame may take: the time from one refresh of the screen to the next
-- column _ts: when the main thread begins with it
-- column _duration: until it is drawn
-- column tid: the main thread
-- column pid: the process
-- column process: its name
-- column frame: the number that the system gave it, if the mark tells
-- column missed: how many refreshes of the screen went by meanwhile
-- column cause: `main` if the main thread alone took longer than it may, `render` if drawing alone did, else `both`
SELECT _ts, _duration, tid, pid, process, frame, unitless(_duration IN ns) // unitless(:deadline IN ns) AS missed,
  CASE WHEN main_time > (:deadline IN ns) THEN 'main' WHEN render_time > (:deadline IN ns) THEN 'render' ELSE 'both' END AS cause
FROM frames.app
WHERE _duration > (:deadline IN ns)
ORDER BY _ts, pid, tid
