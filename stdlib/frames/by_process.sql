-- Frames of each process. See `frames.app`.
-- formats: *
-- parameter deadline positive ns = 16666667ns: deadline of a frame
-- column pid: the process
-- column process: its name
-- column frames: number of frames
-- column janky: number of frames that missed the deadline
-- column median: median duration
-- column p95: 95th percentile of the duration
-- column longest: the longest duration
SELECT pid, MAX(process) AS process, COUNT(*) AS frames, COUNT(*) FILTER (WHERE _duration > (:deadline IN ns)) AS janky,
  QUANTILE_DISC(_duration, 0.5) AS median, QUANTILE_DISC(_duration, 0.95) AS p95, MAX(_duration) AS longest
FROM frames.app
GROUP BY pid
ORDER BY janky DESC, frames DESC, pid
