-- Samples of V8's CPU and heap profilers.
-- formats: v8-profile
SELECT EVENT line, `event`, period, stack FROM _events.sample
