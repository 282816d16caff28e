-- The table `tracks`; counters are named with their ids and series. A process whose events name no thread is its own.
-- formats: chrome-json
SELECT track, kind, pid, IF(kind = 'thread', COALESCE(tid, pid), tid) AS tid, parent, IF(kind = 'counter',
    CONCAT(name, IF(id IS NULL, '', CONCAT('[', id, ']')), IF(series IS NULL OR series = 'value', '', CONCAT(' ', series))), name) AS name
FROM _tables.tracks
