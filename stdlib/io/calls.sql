-- Individually traced input and output calls: of the C library and MPI (categories `POSIX`, `STDIO`, `MPI` and `MPIIO`), or system calls on files (`SYSCALL`). Records in which the writer summed up several calls are left out.
-- formats: *
-- column _ts: time of the call
-- column _duration: duration, NULL if its end is unknown
-- column pid: the process
-- column tid: the thread
-- column category: `POSIX`, `STDIO`, `MPI`, `MPIIO` or `SYSCALL`
-- column name: the function
-- column direction: `read` or `write` if it transfers data, else NULL
-- column path: the file, NULL if unknown
-- column bytes: bytes transferred: 0 if it failed, NULL if it transfers no data or the number is unknown
-- column requested: bytes requested
-- column offset: file offset among its arguments, as of `pread` and `lseek`
-- column ret: return value
-- column hostname: the machine, NULL if the writer did not record it
-- column fd: file descriptor, or NULL
-- column line: the event's number in the trace, or NULL
SELECT _ts, dur AS _duration, pid, tid, category, name, direction, path, bytes, requested, offset, ret, hostname, fd, line
FROM _parts.io_calls
ORDER BY _ts, line, pid, tid
