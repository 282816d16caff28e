-- Time of the trace's first event: 0, unless it is aligned with another trace.
-- formats: *
SELECT COALESCE(MAX(CASE WHEN key = 'offset_ns' THEN TRY_CAST(value AS INT64) END), 0) IN ns AS _ts FROM properties
