-- Counters of track events, of the system, of processes, of the GPU and of power.
-- formats: perfetto
SELECT EVENT line, track, value FROM _events.counter
