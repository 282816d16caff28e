-- Page faults in user space and in the kernel.
-- formats: *
-- column tid: the thread
-- column pid: its process, or NULL
-- column comm: its name, or NULL
-- column cpu: the CPU
-- column kind: `user` or `kernel`: the mode in which it happened
-- column address: the accessed address
-- column ip: address of the instruction
-- column error_code: the processor's error code, as recorded
SELECT EVENT * FROM dctv.as_events((
  SELECT f._ts, f.tid, COALESCE(f.pid, o.pid) AS pid, f.comm, f.cpu, f.kind, f.address, f.ip, f.error_code
  FROM (
    SELECT _ts, line, common_pid AS tid, CASE WHEN common_tgid > 0 THEN common_tgid END AS pid, common_comm AS comm, cpu, 'user' AS kind, address, ip,
      error_code
    FROM _events.page_fault_user
    UNION ALL
    SELECT _ts, line, common_pid, CASE WHEN common_tgid > 0 THEN common_tgid END, common_comm, cpu, 'kernel', address, ip, error_code
    FROM _events.page_fault_kernel
  ) AS f
  LEFT JOIN _built.thread_processes AS o ON o.tid = f.tid
  ORDER BY f._ts, f.line
))
