-- Their ends.
-- formats: perfetto
SELECT EVENT line, track, name, args FROM _events.async_end
