-- Begins of track events on threads.
-- formats: perfetto
SELECT EVENT line, track, name, cat AS category, args FROM _events.`begin`
