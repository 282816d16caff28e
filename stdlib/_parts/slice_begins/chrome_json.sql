-- Events of phase B.
-- formats: chrome-json
SELECT EVENT line, track, name, cat AS category, args FROM _events.`begin`
