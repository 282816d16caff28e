-- Utilisation of each CPU in equal periods: the share of the period in which it ran a thread other than idle. Periods begin at multiples of `period`, and the last one ends with the trace. What a CPU did before its first switch and after its last is unknown, and counts neither as busy nor as known.
-- formats: *
-- parameter period positive ns = 100ms: length of each span
-- column cpu: the CPU
-- column busy: time for which it ran threads
-- column known: time for which its thread is known
-- column utilisation: share of the known time for which it was busy, NULL if none is known
SELECT SPAN COALESCE(SUM(CASE WHEN pid != 0 THEN _duration END), 0ns) AS busy, COALESCE(SUM(_duration), 0ns) AS known,
  COALESCE(SUM(CASE WHEN pid != 0 THEN _duration END), 0ns) / SUM(_duration) AS utilisation
FROM scheduler.timeslices_p_cpu GROUP USING SPANS FROM quantize(:period)
