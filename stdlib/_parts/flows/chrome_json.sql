-- Events of phases s, t and f, and complete events and begins with a `bind_id`.
-- formats: chrome-json
SELECT _ts, line, flow, 'begin' AS phase, track, 'enclosing' AS binding, name, cat AS category FROM _events.flow_begin
UNION ALL SELECT _ts, line, flow, 'step', track, 'enclosing', name, cat FROM _events.flow_step
UNION ALL SELECT _ts, line, flow, 'end', track, IF(bp = 'e', 'enclosing', 'next'), name, cat FROM _events.flow_end
UNION ALL SELECT _ts, line, bind, IF(NOT COALESCE(flow_in, FALSE), 'begin', IF(COALESCE(flow_out, FALSE), 'step', 'end')),
  track, 'own', name, cat FROM _events.complete WHERE bind IS NOT NULL
UNION ALL SELECT _ts, line, bind, IF(NOT COALESCE(flow_in, FALSE), 'begin', IF(COALESCE(flow_out, FALSE), 'step', 'end')),
  track, 'own', name, cat FROM _events.`begin` WHERE bind IS NOT NULL
