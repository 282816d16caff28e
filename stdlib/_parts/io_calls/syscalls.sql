-- System calls on files. The path is that of the call itself, or of the latest open that returned the descriptor to the process (or the thread, if the trace has no processes), unless the descriptor was closed since; duplicated descriptors are not followed.
-- formats: ftrace-text, ftrace-graph, trace-dat, perfetto, perf-data, perf-script, ctf
WITH named AS (
  SELECT _ts, _duration, line, pid, tid, COALESCE(pid, tid) AS owner, name, ret, list LIKE '{%' AS object, list LIKE '[%' AS array,
    list, fd, count, filename
  FROM _built.called
  WHERE name REGEXP '^(p?(read|write)(v2?|64)?|open(at2?)?|creat|close|lseek|_llseek|fsync|fdatasync|sync_file_range|fallocate|f?truncate(64)?|new?[fl]?stat(at)?(64)?|[fl]?stat(64|fs|x)?|getdents(64)?|unlink(at)?|rename(at2?)?|mkdir(at)?|rmdir|access|faccessat2?|readlink(at)?|sendfile(64)?|copy_file_range|splice)$'
),
given AS (
  SELECT _ts, _duration, line, pid, tid, owner, name, ret,
    CASE
      WHEN name NOT REGEXP '^(p?(read|write)(v2?|64)?|close|_?l?lseek|fsync|fdatasync|sync_file_range|fallocate|ftruncate(64)?|(new)?fstat(64)?|fstatfs|getdents(64)?)$' THEN NULL
      WHEN list IS NULL THEN fd
      WHEN object AND JSON_TYPE(list, '$.fd') = 'VARCHAR' THEN TRY_CAST('0x' || REPLACE(JSON_EXTRACT_STRING(list, '$.fd'), '0x', '') AS INT64)
      WHEN object THEN TRY_CAST(JSON_EXTRACT_STRING(list, '$.fd') AS INT64)
      WHEN array THEN TRY_CAST(JSON_EXTRACT_STRING(list, '$[0]') AS INT64)
      ELSE TRY_CAST('0x' || SPLIT_PART(list, ',', 1) AS INT64) END AS fd,
    CASE
      WHEN list IS NULL THEN count
      WHEN object AND JSON_TYPE(list, '$.count') = 'VARCHAR' THEN TRY_CAST('0x' || REPLACE(JSON_EXTRACT_STRING(list, '$.count'), '0x', '') AS INT64)
      WHEN object THEN TRY_CAST(JSON_EXTRACT_STRING(list, '$.count') AS INT64)
      WHEN array THEN TRY_CAST(JSON_EXTRACT_STRING(list, '$[2]') AS INT64)
      ELSE TRY_CAST('0x' || TRIM(SPLIT_PART(list, ',', 3)) AS INT64) END AS amount,
    CASE
      WHEN list IS NULL THEN filename
      WHEN object THEN COALESCE(JSON_EXTRACT_STRING(list, '$.filename'), JSON_EXTRACT_STRING(list, '$.pathname'),
        JSON_EXTRACT_STRING(list, '$.path')) END AS word
  FROM named
),
pathed AS (SELECT *, CASE WHEN word NOT REGEXP '^(0x)?[0-9a-fA-F]+$' THEN word END AS own_path FROM given),
changes AS (
  SELECT owner, ret AS fd, _ts + COALESCE(_duration, 0ns) AS at, MAX(own_path) AS path FROM pathed
  WHERE name REGEXP '^(open|creat)' AND ret >= 0 GROUP BY owner, ret, _ts + COALESCE(_duration, 0ns)
  UNION ALL
  SELECT owner, fd, _ts + 1ns, NULL FROM pathed WHERE name = 'close' AND fd IS NOT NULL
)
SELECT p._ts, p._duration AS dur, p.line, p.pid, p.tid, 'SYSCALL' AS category, p.name,
  CASE WHEN p.name REGEXP '^p?read(v2?|64)?$' THEN 'read' WHEN p.name REGEXP '^p?write(v2?|64)?$' THEN 'write' END AS direction,
  COALESCE(p.own_path, c.path) AS path, CASE WHEN p.name REGEXP '^(open|creat)' AND p.ret >= 0 THEN p.ret ELSE p.fd END AS fd,
  CASE WHEN p.ret IS NOT NULL AND p.name REGEXP '^p?(read|write)(v2?|64)?$' THEN GREATEST(p.ret, 0) END IN B AS bytes,
  CASE WHEN p.name REGEXP '^p?(read|write)(64)?$' THEN p.amount END IN B AS requested, p.ret
FROM pathed AS p
ASOF LEFT JOIN changes AS c ON c.owner = p.owner AND c.fd = p.fd AND p._ts >= c.at
