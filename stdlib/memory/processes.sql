-- How much memory processes had, as traces with counters of it tell: one span from a value to the next one of its counter.
-- formats: *
-- column track: see `tracks`
-- column pid: the process, or NULL
-- column process: its name, or NULL
-- column name: what is counted, such as `mem.rss`, `mem.rss.anon`, `mem.swap` or `mem.virt`
-- column size: how much
SELECT SPAN pid, process, name, value IN B AS size FROM counters WHERE name LIKE 'mem.%' AND (unit IS NULL OR unit = 'B')
