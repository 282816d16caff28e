-- Arrows of track events: by the ids that events name, which begin where an id is first, and of old writers.
-- formats: perfetto
SELECT _ts, line, flow, 'begin' AS phase, track, binding, name, cat AS category FROM _events.flow_begin
UNION ALL SELECT _ts, line, flow, 'step', track, binding, name, cat FROM _events.flow_step
UNION ALL SELECT _ts, line, flow, IF(COALESCE(closes, FALSE), 'close', 'end'), track, binding, name, cat FROM _events.flow_end
