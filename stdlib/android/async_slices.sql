-- What programs say that they do across threads: one row for each `S` mark with the `F` mark of the same process, name and cookie, and for each `G` mark with the `H` mark of the same process, track and cookie. An end closes the latest open begin; what nothing closes has no duration.
-- formats: ftrace-text
-- column _ts: when it begins
-- column _duration: how long it lasts, NULL if nothing closes it
-- column pid: the process, as the mark says
-- column track: the track, for `G` and `H` marks
-- column name: what is done
-- column cookie: the number by which the program tells it from others of that name
-- column tid: the thread that began it
-- column comm: that thread's name
-- column depth: how many others of the same name and cookie it is in
SELECT _ts, _duration, pid, NULL::STRING AS track, name, cookie, tid, comm, depth
FROM dctv.slices(
  begins=>(SELECT _ts, line, pid, name, cookie, common_pid AS tid, common_comm AS comm FROM _events.`print|S`),
  ends=>(SELECT _ts, line, pid, name, cookie FROM _events.`print|F`),
  partition=>["pid", "name", "cookie"],
  order=>"line",
)
UNION ALL
SELECT _ts, _duration, pid, track, name, cookie, tid, comm, depth
FROM dctv.slices(
  begins=>(SELECT _ts, line, pid, track, cookie, name, common_pid AS tid, common_comm AS comm FROM _events.`print|G`),
  ends=>(SELECT _ts, line, pid, track, cookie FROM _events.`print|H`),
  partition=>["pid", "track", "cookie"],
  order=>"line",
)
ORDER BY _ts, pid, name, cookie
