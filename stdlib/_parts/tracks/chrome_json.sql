-- The table `tracks`; counters are named with their series and id.
-- formats: chrome-json
SELECT track, kind, CONCAT(name, IF(id IS NULL OR kind <> 'counter', '', CONCAT('[', id, ']')),
    IF(series IS NULL, '', CONCAT(' ', series))) AS name, pid, tid, parent
FROM _tables.tracks
