-- From each span to the spans that it caused, in the same service or others.
-- formats: otlp, jaeger
WITH caused AS (
  SELECT ROW_NUMBER() OVER (ORDER BY c.line, p.line) AS flow,
    p._ts AS from_ts, p.line AS from_line, p.track AS from_track, c._ts, c.line, c.track, c.name, c.cat
  FROM _events.span AS c
  JOIN _events.span AS p ON p.trace_id = c.trace_id AND p.span_id = c.parent_span_id AND p.line != c.line
)
SELECT from_ts AS _ts, from_line AS line, flow, 'begin' AS phase, from_track AS track, 'own' AS binding, name,
  cat AS category
FROM caused
UNION ALL SELECT _ts, line, flow, 'end', track, 'own', name, cat FROM caused
