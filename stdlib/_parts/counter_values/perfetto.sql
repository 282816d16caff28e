-- Counters of track events, the system, processes, the GPU and power.
-- formats: perfetto
SELECT EVENT line, track, value FROM _events.counter
