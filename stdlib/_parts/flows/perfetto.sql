-- Flows of track events, which begin at the first event that names the flow's id, and legacy flow events.
-- formats: perfetto
SELECT _ts, line, flow, 'begin' AS phase, track, binding, name, cat AS category FROM _events.flow_begin
UNION ALL SELECT _ts, line, flow, 'step', track, binding, name, cat FROM _events.flow_step
UNION ALL SELECT _ts, line, flow, IF(COALESCE(closes, FALSE), 'close', 'end'), track, binding, name, cat FROM _events.flow_end
