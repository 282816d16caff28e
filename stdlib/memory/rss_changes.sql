-- How much memory of one kind an address space uses from then on, as `rss_stat` events say. Address spaces are known by number (`mm`). Which process a number belongs to is learned from events of that process's own threads, and holds until the process ends or another process is seen with the number.
-- formats: *
-- column mm: the address space: the kernel's number, or the process's where it gives none (or the thread's, if its process is not known)
-- column kind: `file`, `anon`, `swap`, `shmem` or `unreclaimable`, else as the kernel says
-- column pid: the process that has it, NULL if no event before tells
-- column tid: the thread that ran, which may be of another process
-- column size: how much
SELECT EVENT * FROM dctv.as_events((SELECT _ts, mm, kind, pid, tid, size FROM _built.rss ORDER BY _ts, line))
