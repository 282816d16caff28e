-- Changes of the memory of one kind that an address space uses, from `rss_stat` events. Address spaces are identified by number (`mm`). Events of a process's own threads show that a number belongs to it; this holds until the process ends or another process is seen with the number.
-- formats: *
-- column mm: the address space: the kernel's number for it, or that of the process if the kernel gives none (or of the thread, if its process is unknown)
-- column kind: `file`, `anon`, `swap`, `shmem` or `unreclaimable`, otherwise as recorded
-- column pid: its process, NULL if no earlier event shows it
-- column tid: the running thread, which may belong to another process
-- column size: bytes in use from then on
SELECT EVENT * FROM dctv.as_events((SELECT _ts, mm, kind, pid, tid, size FROM _built.rss ORDER BY _ts, line))
