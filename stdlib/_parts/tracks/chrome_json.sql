-- The table `tracks`; counters are named by id and series. Thread tracks without a thread id get that of the main thread.
-- formats: chrome-json
SELECT track, kind, pid, IF(kind = 'thread', COALESCE(tid, pid), tid) AS tid, parent, IF(kind = 'counter',
    CONCAT(name, IF(id IS NULL, '', CONCAT('[', id, ']')), IF(series IS NULL OR series = 'value', '', CONCAT(' ', series))), name) AS name
FROM _tables.tracks
