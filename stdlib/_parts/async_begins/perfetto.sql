-- Begins of track events on other tracks than threads, and of old writers' ids.
-- formats: perfetto
SELECT EVENT line, track, name, cat AS category, args FROM _events.async_begin
