-- The table `tracks`; counters are named with their ids and series.
-- formats: chrome-json
SELECT track, kind, pid, tid, parent, IF(kind = 'counter',
    CONCAT(name, IF(id IS NULL, '', CONCAT('[', id, ']')), IF(series IS NULL OR series = 'value', '', CONCAT(' ', series))), name) AS name
FROM _tables.tracks
