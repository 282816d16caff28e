-- Threads, counters and cookies of marks. Each CPU has an idle thread of its own, which belongs to no process.
-- formats: *
SELECT track, 'thread' AS kind, 'idle on CPU ' || MIN(cpu)::STRING AS name, IF(common_pid = 0, NULL, MAX(pid)) AS pid, common_pid AS tid
FROM (
  SELECT COALESCE(-2147483649 - IF(common_pid = 0, cpu, NULL), -1 - common_pid) AS track, IF(common_pid = 0, cpu, NULL) AS cpu, common_pid, pid
  FROM (
    SELECT common_pid, cpu, pid FROM _events.`print|B`
    UNION ALL SELECT common_pid, cpu, NULL FROM _events.`print|E`
    UNION ALL SELECT common_pid, cpu, pid FROM _events.`print|I`
    UNION ALL SELECT common_pid, cpu, pid FROM _events.`print|N`
  )
)
GROUP BY track, common_pid
UNION ALL
SELECT track, kind, COALESCE(on_track, name), pid, NULL FROM _parts.mark_tracks
