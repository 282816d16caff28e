-- How busy each CPU was, by equal periods: the share of each period in which it ran a thread other than idle. Periods begin at 0, and the last one ends with the trace. What a CPU did before its first switch and after its last is not known, and counts neither as busy nor as known.
-- formats: *
-- parameter period ns = 100ms: how long each span is
-- column cpu: the CPU
-- column busy: how long it ran threads
-- column known: how long it is known what it ran
-- column utilisation: what it was busy as a share of what is known, NULL where nothing is
SELECT SPAN COALESCE(SUM(CASE WHEN pid != 0 THEN _duration END), 0ns) AS busy, COALESCE(SUM(_duration), 0ns) AS known,
  COALESCE(SUM(CASE WHEN pid != 0 THEN _duration END), 0ns) / SUM(_duration) AS utilisation
FROM scheduler.timeslices_p_cpu GROUP USING SPANS FROM quantize(:period)
