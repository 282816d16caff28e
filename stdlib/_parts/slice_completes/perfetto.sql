-- Complete events of old writers; what has no duration, or a negative one, takes no time.
-- formats: perfetto
SELECT EVENT line, GREATEST(COALESCE(dur, 0ns), 0ns) AS dur, track, name, cat AS category, args FROM _events.complete
