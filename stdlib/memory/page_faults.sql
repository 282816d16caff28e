-- Page faults, of programs and of the kernel.
-- formats: *
-- column tid: the thread
-- column pid: its process, if the trace tells
-- column comm: its name, if the trace tells
-- column cpu: the CPU
-- column kind: `user` or `kernel`: who ran into it
-- column address: what was to be read or written
-- column ip: the instruction
-- column error_code: the processor's bits, as the trace has them
SELECT EVENT * FROM dctv.as_events((
  SELECT _ts, tid, pid, comm, cpu, kind, address, ip, error_code
  FROM (
    SELECT _ts, line, common_pid AS tid, common_tgid AS pid, common_comm AS comm, cpu, 'user' AS kind, address, ip, error_code
    FROM _events.page_fault_user
    UNION ALL
    SELECT _ts, line, common_pid, common_tgid, common_comm, cpu, 'kernel', address, ip, error_code FROM _events.page_fault_kernel
  )
  ORDER BY _ts, line
))
