-- Events of phases e and F.
-- formats: chrome-json
SELECT EVENT line, track, name, args FROM _events.async_end
