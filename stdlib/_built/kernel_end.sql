-- When the last event of the kernel happened, beyond which nothing is known of what its events tell: the trace's end where all events are of one source.
-- formats: *
SELECT COALESCE(
  MAX(CASE WHEN key = 'kernel_end_ns' THEN TRY_CAST(value AS INT64) END) - MAX(CASE WHEN key = 'start_ns' THEN TRY_CAST(value AS INT64) END),
  (SELECT UNITLESS(_ts) FROM last_ts)) IN ns AS _ts
FROM properties
