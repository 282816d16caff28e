-- What programs say that they do, by `B` and `E` marks: one row for each `B` with the `E` that closes it on the same thread. Marks nest; an `E` without an open `B` is passed over, and a `B` that nothing closes has no duration.
-- formats: ftrace-text
-- column _ts: when it begins
-- column _duration: how long it lasts, NULL if nothing closes it
-- column tid: the thread
-- column id: the slice's number
-- column parent_id: the slice that it is in, or NULL
-- column depth: how many slices it is in
-- column pid: the process, as the mark says
-- column comm: the thread's name
-- column name: what is done
SELECT * FROM dctv.slices(
  begins=>(SELECT _ts, line, common_pid AS tid, pid, common_comm AS comm, name FROM _events.`print|B`),
  ends=>(SELECT _ts, line, common_pid AS tid FROM _events.`print|E`),
  partition=>"tid",
  order=>"line",
)
