-- How the frames of each process went, see `frames.app`.
-- formats: *
-- parameter deadline ns = 16666667ns: how long a frame may take
-- column pid: the process
-- column process: its name
-- column frames: how many
-- column janky: how many took longer than they may
-- column median: half of them took no longer
-- column p95: nineteen in twenty took no longer
-- column longest: the longest one
SELECT pid, MAX(process) AS process, COUNT(*) AS frames, COUNT(*) FILTER (WHERE _duration > (:deadline IN ns)) AS janky,
  QUANTILE_DISC(_duration, 0.5) AS median, QUANTILE_DISC(_duration, 0.95) AS p95, MAX(_duration) AS longest
FROM frames.app
GROUP BY pid
ORDER BY janky DESC, frames DESC, pid
