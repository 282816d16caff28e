-- The architecture whose system call numbers the trace uses: as recorded, or guessed from the numbers of common calls. There is no row if the trace has no numbers, or too few for a guess.
-- formats: *
-- column architecture: `x86_64` or `arm64`
-- column source: `told` if recorded in the trace, or `guessed`: of calls with the numbers of read, write, futex, close and epoll on either architecture, at least ten and more than 80 % belong to this one
WITH recorded AS (
  SELECT CASE
    WHEN value REGEXP 'aarch64|arm64|ARM64' THEN 'arm64'
    WHEN value REGEXP 'x86_64|amd64|AMD64|x86-64' THEN 'x86_64' END AS architecture
  FROM properties WHERE key IN ('architecture', 'arch', 'machine', 'kernel_arch', 'system_machine', 'uname', 'system')
),
counts AS (
  SELECT COUNT(*) FILTER (WHERE id IN (0, 1, 3, 202, 232, 281)) AS x86_64,
    COUNT(*) FILTER (WHERE id IN (22, 57, 63, 64, 98)) AS arm64
  FROM _events.sys_enter
),
guessed AS (
  SELECT CASE
    WHEN x86_64 >= 10 AND x86_64 > 4 * arm64 THEN 'x86_64'
    WHEN arm64 >= 10 AND arm64 > 4 * x86_64 THEN 'arm64' END AS architecture
  FROM counts
)
SELECT MIN(architecture) AS architecture, 'told' AS source FROM recorded
WHERE architecture IS NOT NULL AND EXISTS (SELECT 1 FROM _events.sys_enter) HAVING COUNT(*) > 0
UNION ALL
SELECT architecture, 'guessed' FROM guessed
WHERE architecture IS NOT NULL AND NOT EXISTS (SELECT 1 FROM recorded WHERE architecture IS NOT NULL)
