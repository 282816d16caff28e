-- How many samples of a profiler functions are in: innermost, and anywhere.
-- formats: chrome-json, collapsed-stacks, ctf, perf-data, perf-script, perfetto, v8-profile
SELECT name, `event`, self_samples, total_samples FROM t.samples.by_function
