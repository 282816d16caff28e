-- System calls: one row for each that is seen to begin, with the exit that is the thread's next event of this kind. A call has no duration if that is another entry, so that its exit was lost, or if there is none; exits of calls that began before the trace are left out. Numbers become names by `syscalls.architecture`; of a call that the trace has both by number and by name, the named one counts.
-- formats: *
-- column _ts: when it was called
-- column _duration: how long it took, NULL if its end is not known
-- column tid: the thread, or if events do not tell: what the CPU ran
-- column pid: its process, if the trace tells
-- column comm: its name, if the trace tells
-- column name: the call, without `sys_`; `NR 7` if only the number is known
-- column number: its number, if the trace tells
-- column ret: what it returned, NULL if that is not known
-- column failed: whether it returned an error, as -4095 to -1 are
-- column args: its arguments as the trace has them: an object of those that have names, or the list of numbers
-- column line: the event's number in the trace
SELECT _ts, _duration, tid, pid, comm, name, number, ret, failed, args, line
FROM _built.called
ORDER BY _ts, line, tid
