-- Events of phases i, I and R, and those of n, T and p on asynchronous tracks.
-- formats: chrome-json
SELECT _ts, line, track, name, cat AS category, args FROM _events.instant
UNION ALL SELECT _ts, line, track, name, cat, args FROM _events.mark
UNION ALL SELECT _ts, line, track, name, cat, args FROM _events.async_instant
