-- Every call of input and output that was traced one by one: of the C library and MPI (categories `POSIX`, `STDIO`, `MPI` and `MPIIO`), or system calls on files (`SYSCALL`). Records in which the writer has added up several calls are not calls.
-- formats: *
-- column _ts: when it was called
-- column _duration: how long it took, NULL if its end is not known
-- column pid: the process
-- column tid: the thread
-- column category: `POSIX`, `STDIO`, `MPI`, `MPIIO` or `SYSCALL`
-- column name: the function
-- column direction: `read` or `write` if it is to move bytes, else NULL
-- column path: the file, NULL if the trace does not tell
-- column bytes: how many bytes it moved: 0 if it failed, NULL if it does not move bytes or the trace does not tell
-- column requested: how many bytes it was to move
-- column offset: the position in the file that it was given, as `pread` and `lseek` are
-- column ret: what it returned
-- column hostname: the machine, NULL if the writer did not record it
-- column fd: the file's descriptor, if the trace tells
-- column line: the event's number in the trace, or NULL
SELECT _ts, dur AS _duration, pid, tid, category, name, direction, path, bytes, requested, offset, ret, hostname, fd, line
FROM _parts.io_calls
ORDER BY _ts, line, pid, tid
