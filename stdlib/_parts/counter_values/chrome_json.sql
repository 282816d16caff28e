-- Events of phase C, a row for each series.
-- formats: chrome-json
SELECT EVENT line, track, value FROM _events.counter
