-- System calls: one row for each entry, with its exit, which is the thread's next event of this kind. A call has no duration if that event is another entry (its exit was lost), or if there is none; exits of calls that began before the trace are left out. Numbers become names by `syscalls.architecture`; if the trace has a call both by number and by name, the named one counts.
-- formats: *
-- column _ts: time of the call
-- column _duration: duration, NULL if its end is unknown
-- column tid: the thread; if events do not name it, the one that ran on the CPU
-- column pid: its process, or NULL
-- column comm: its name, or NULL
-- column name: name of the call, without `sys_`; `NR 7` if only the number is known
-- column number: its number, or NULL
-- column ret: return value, NULL if unknown
-- column failed: whether it returned an error, from -4095 to -1
-- column args: its arguments as recorded: an object if they have names, otherwise a list of numbers
-- column line: the event's number in the trace
SELECT _ts, _duration, tid, pid, comm, name, number, ret, failed, args, line
FROM _built.called
ORDER BY _ts, line, tid
