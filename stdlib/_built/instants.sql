-- Instants, with their numbers and lines.
-- formats: *
SELECT _ts, line, ROW_NUMBER() OVER (ORDER BY _ts, line) - 1 AS id, track, name, category, args FROM _parts.instants
