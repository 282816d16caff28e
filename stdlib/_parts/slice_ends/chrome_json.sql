-- Events of phase E.
-- formats: chrome-json
SELECT EVENT line, track, name, args FROM _events.`end`
