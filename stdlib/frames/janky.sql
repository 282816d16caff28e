-- Frames of `frames.app` that missed their deadline.
-- formats: *
-- parameter deadline positive ns = 16666667ns: deadline of a frame: the time between two refreshes of the screen
-- column _ts: time at which the main thread starts on it
-- column _duration: time until it is drawn
-- column tid: the main thread
-- column pid: the process
-- column process: its name
-- column frame: its number, if the mark has one
-- column missed: number of missed refreshes of the screen
-- column cause: `main` if the time of the main thread alone is over the deadline, `render` if that of drawing alone is, else `both`: each of them is, or only both together
SELECT _ts, _duration, tid, pid, process, frame, (unitless(_duration IN ns) - 1) // unitless(:deadline IN ns) AS missed,
  CASE
    WHEN main_time > (:deadline IN ns) AND render_time > (:deadline IN ns) THEN 'both'
    WHEN main_time > (:deadline IN ns) THEN 'main' WHEN render_time > (:deadline IN ns) THEN 'render' ELSE 'both' END AS cause
FROM frames.app
WHERE _duration > (:deadline IN ns)
ORDER BY _ts, pid, tid
