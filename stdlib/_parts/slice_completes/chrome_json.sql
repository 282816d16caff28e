-- Events of phase X; without a duration, or with a negative one, they take no time.
-- formats: chrome-json
SELECT EVENT line, GREATEST(COALESCE(dur, 0ns), 0ns) AS dur, track, name, cat AS category, args FROM _events.complete
