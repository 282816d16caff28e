-- Time of the last kernel event, after which kernel state is unknown; if all events come from one source, the end of the trace.
-- formats: *
SELECT COALESCE(
  MAX(CASE WHEN key = 'kernel_end_ns' THEN TRY_CAST(value AS INT64) END) - MAX(CASE WHEN key = 'start_ns' THEN TRY_CAST(value AS INT64) END),
  (SELECT UNITLESS(_ts) FROM last_ts)) IN ns AS _ts
FROM properties
