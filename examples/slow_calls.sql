-- Which I/O calls took longest, and how fast was each?
MOUNT TRACE '../tests/data/dftracer/loader' AS io;

SELECT name, pid, _ts IN ms AS start, _duration IN us AS took
FROM io.events
WHERE category = 'POSIX' AND name != 'waitpid'
ORDER BY took DESC
LIMIT 5;

SELECT (SUM(count) IN MiB) AS read, (SUM(count) / SUM(dur)) IN `MiB/s` AS rate
FROM io.raw_events.read;
