-- Individually traced calls of the C library and MPI; records in which the writer summed up several calls are left out.
-- formats: dftracer
WITH calls AS (
  SELECT _ts, _duration, pid, tid, category, name,
    CASE
      WHEN category = 'POSIX' AND name REGEXP '^p?readv?2?(64)?(_chk)?$' THEN 'read'
      WHEN category = 'POSIX' AND name REGEXP '^p?writev?2?(64)?(_chk)?$' THEN 'write'
      WHEN category = 'STDIO' AND name REGEXP '^fread(_unlocked)?$' THEN 'read'
      WHEN category = 'STDIO' AND name REGEXP '^fwrite(_unlocked)?$' THEN 'write'
      WHEN name REGEXP '^MPI_File_i?read' THEN 'read'
      WHEN name REGEXP '^MPI_File_i?write' THEN 'write'
    END AS direction,
    JSON_EXTRACT_STRING(args, 'fname') AS path,
    JSON_EXTRACT_STRING(args, 'hostname') AS hostname,
    TRY_CAST(JSON_EXTRACT_STRING(args, 'ret') AS INT64) AS ret,
    TRY_CAST(JSON_EXTRACT_STRING(args, 'count') AS INT64) AS amount,
    CASE WHEN category = 'STDIO' THEN TRY_CAST(JSON_EXTRACT_STRING(args, 'size') AS INT64) ELSE 1 END AS size,
    TRY_CAST(JSON_EXTRACT_STRING(args, 'offset') AS INT64) AS position
  FROM events
  WHERE category IN ('POSIX', 'STDIO', 'MPI', 'MPIIO') AND _duration IS NOT NULL
)
SELECT _ts, _duration AS dur, pid, tid, category, name, direction, path,
  CASE WHEN ret IS NOT NULL AND direction IS NOT NULL AND category IN ('POSIX', 'STDIO') THEN GREATEST(ret, 0) * size END IN B AS bytes,
  CASE WHEN direction IS NOT NULL AND category IN ('POSIX', 'STDIO') THEN amount * size END IN B AS requested,
  position IN B AS offset, ret, hostname
FROM calls
