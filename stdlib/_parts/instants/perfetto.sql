-- Track events without a length, and the rarer phases of old writers.
-- formats: perfetto
SELECT _ts, line, track, name, cat AS category, args FROM _events.instant
UNION ALL SELECT _ts, line, track, name, cat, args FROM _events.mark
UNION ALL SELECT _ts, line, track, name, cat, args FROM _events.async_instant
