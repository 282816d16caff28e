-- Memory usage of processes, in traces with counters of it: one span from each sample of a counter to its next.
-- formats: *
-- column track: see `tracks`
-- column pid: the process, or NULL
-- column process: its name, or NULL
-- column name: the counter's name, such as `mem.rss`, `mem.rss.anon`, `mem.swap` or `mem.virt`
-- column size: value of the counter
SELECT SPAN pid, process, name, value IN B AS size FROM counters WHERE name LIKE 'mem.%' AND (unit IS NULL OR unit = 'B')
