-- The table `tracks`.
-- formats: perfetto
SELECT track, kind, name, pid, tid, parent, unit FROM _tables.tracks
