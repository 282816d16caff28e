-- Track events without a duration, and the rarer phases of legacy events.
-- formats: perfetto
SELECT _ts, line, track, name, cat AS category, args FROM _events.instant
UNION ALL SELECT _ts, line, track, name, cat, args FROM _events.mark
UNION ALL SELECT _ts, line, track, name, cat, args FROM _events.async_instant
