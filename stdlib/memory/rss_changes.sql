-- What `rss_stat` events tell: how much memory of a kind an address space has in use from then on. Address spaces are known by number (`mm`); which process such a number is of is told by events of the process's own threads, and holds until the process ends or the number is told of another one.
-- formats: *
-- column mm: the address space: the kernel's number, or the process's where it gives none (or the thread's, if its process is not known)
-- column kind: `file`, `anon`, `swap`, `shmem` or `unreclaimable`, else as the kernel says
-- column pid: the process that has it, NULL if no event before tells
-- column tid: the thread that ran, which may be of another process
-- column size: how much
SELECT EVENT * FROM dctv.as_events((SELECT _ts, mm, kind, pid, tid, size FROM _built.rss ORDER BY _ts, line))
