-- Events of phase C, one row per series.
-- formats: chrome-json
SELECT EVENT line, track, value FROM _events.counter
