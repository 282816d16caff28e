-- Events of phases b and S.
-- formats: chrome-json
SELECT EVENT line, track, name, cat AS category, args FROM _events.async_begin
