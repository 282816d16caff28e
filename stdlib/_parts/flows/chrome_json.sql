-- Events of phases s, t and f, and all others with a `bind_id`, whose point is the slice that the event begins or ends, or the instant.
-- formats: chrome-json
SELECT _ts, line, flow, 'begin' AS phase, track, 'enclosing' AS binding, name, cat AS category FROM _events.flow_begin
UNION ALL SELECT _ts, line, flow, 'step', track, 'enclosing', name, cat FROM _events.flow_step
UNION ALL SELECT _ts, line, flow, 'end', track, IF(bp = 'e', 'enclosing', 'next'), name, cat FROM _events.flow_end
UNION ALL
SELECT _ts, line, bind, IF(NOT COALESCE(flow_in, FALSE), 'begin', IF(COALESCE(flow_out, FALSE), 'step', 'end')), track,
  binding, name, cat
FROM (
  SELECT _ts, line, bind, flow_in, flow_out, track, 'own' AS binding, name, cat FROM _events.complete
  UNION ALL SELECT _ts, line, bind, flow_in, flow_out, track, 'own', name, cat FROM _events.`begin`
  UNION ALL SELECT _ts, line, bind, flow_in, flow_out, track, 'ended', name, cat FROM _events.`end`
  UNION ALL SELECT _ts, line, bind, flow_in, flow_out, track, 'own', name, cat FROM _events.instant
  UNION ALL SELECT _ts, line, bind, flow_in, flow_out, track, 'own', name, cat FROM _events.async_begin
  UNION ALL SELECT _ts, line, bind, flow_in, flow_out, track, 'own', name, cat FROM _events.async_instant
  UNION ALL SELECT _ts, line, bind, flow_in, flow_out, track, 'ended', name, cat FROM _events.async_end
)
WHERE bind IS NOT NULL
