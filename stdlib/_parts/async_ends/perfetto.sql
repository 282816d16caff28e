-- Ends of track events on tracks that are not threads, and of legacy events with ids.
-- formats: perfetto
SELECT EVENT line, track, name, args FROM _events.async_end
