-- Ends of track events on threads.
-- formats: perfetto
SELECT EVENT line, track, name, args FROM _events.`end`
