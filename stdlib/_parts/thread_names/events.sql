-- Threads that events name, with the names that these give them; any other name takes precedence.
-- formats: *
SELECT tid, CASE WHEN pid > 0 THEN pid END AS pid, CASE WHEN name NOT IN ('<...>', '') THEN name END AS name,
  ROW_NUMBER() OVER (ORDER BY last_ts, name) - 9223372036854775807 AS rank
FROM _built.named_threads WHERE tid > 0
