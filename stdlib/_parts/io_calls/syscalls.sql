-- System calls on files. The path is that of the call itself, or of the latest open that returned the descriptor to the process (or the thread, if the trace has no processes), unless the descriptor was closed since; duplicated descriptors are not followed.
-- formats: ftrace-text, ftrace-graph, trace-dat, perfetto, perf-data, perf-script, ctf
WITH named AS (
  SELECT _ts, _duration, line, end_line, pid, tid, COALESCE(pid, tid) AS owner, name, ret, list LIKE '{%' AS object, list LIKE '[%' AS array,
    list, fd, count, filename
  FROM _built.called
  WHERE name REGEXP '^(p?(read|write)(v2?|64)?|open(at2?)?|creat|close|lseek|_llseek|fsync|fdatasync|sync_file_range|fallocate|f?truncate(64)?|new?[fl]?stat(at)?(64)?|[fl]?stat(64|fs|x)?|getdents(64)?|unlink(at)?|rename(at2?)?|mkdir(at)?|rmdir|access|faccessat2?|readlink(at)?|sendfile(64)?|copy_file_range|splice)$'
),
given AS (
  SELECT _ts, _duration, line, end_line, pid, tid, owner, name, ret,
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
calls AS (
  SELECT *, CASE WHEN name REGEXP '^(open|creat)' AND ret >= 0 THEN ret END AS opened, name = 'close' AND fd IS NOT NULL AS closes FROM pathed
),
-- An open counts from its end on, and a close after its begin; an empty path stands for none, since NULL stands for no change.
steps AS (
  SELECT _ts AS at, line AS place, 1 AS rank, owner, COALESCE(fd, opened) AS fd, NULL::STRING AS change, _ts, _duration, line, pid, tid, name, own_path,
    amount, ret
  FROM calls
  UNION ALL
  SELECT _ts + COALESCE(_duration, 0ns), end_line, 0, owner, opened, COALESCE(own_path, ''), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
  FROM calls WHERE opened IS NOT NULL
  UNION ALL
  SELECT _ts, line, 2, owner, fd, '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM calls WHERE closes
),
known AS (
  SELECT *, NULLIF(LAST_VALUE(change) IGNORE NULLS OVER (PARTITION BY owner, fd ORDER BY at, place, rank ROWS UNBOUNDED PRECEDING), '') AS path
  FROM steps
)
SELECT _ts, _duration AS dur, line, pid, tid, 'SYSCALL' AS category, name,
  CASE WHEN name REGEXP '^p?read(v2?|64)?$' THEN 'read' WHEN name REGEXP '^p?write(v2?|64)?$' THEN 'write' END AS direction,
  COALESCE(own_path, CASE WHEN NOT name REGEXP '^(open|creat)' THEN path END) AS path, fd,
  CASE WHEN ret IS NOT NULL AND name REGEXP '^p?(read|write)(v2?|64)?$' THEN GREATEST(ret, 0) END IN B AS bytes,
  CASE WHEN name REGEXP '^p?(read|write)(64)?$' THEN amount END IN B AS requested, ret
FROM known WHERE rank = 1
