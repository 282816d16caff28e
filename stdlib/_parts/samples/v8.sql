-- Samples of V8's profilers, of the CPU and of the heap.
-- formats: v8-profile
SELECT EVENT line, `event`, period, stack FROM _events.sample
