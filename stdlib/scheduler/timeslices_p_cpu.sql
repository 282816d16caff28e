-- Threads that each CPU runs: one span from each switch to the next on the same CPU; pid 0 is idle.
-- formats: *
-- column cpu: the CPU
-- column pid: id of the running thread, 0 when idle
-- column comm: name of the running thread
-- column prio: its priority, as recorded
-- column end_state: its state when it was switched out (`R`: still runnable, `S`: sleeping, `D`: uninterruptible); NULL if events are missing, so that another thread was switched out
SELECT SPAN pid, comm, prio, CASE WHEN left_pid <=> pid THEN end_state END AS end_state FROM dctv.time_series_to_spans(
  sources=>[{source=>_events.sched_switch, partition=>"cpu"}],
  columns=>[
    {column=>"pid", source_column=>"next_pid"},
    {column=>"comm", source_column=>"next_comm"},
    {column=>"prio", source_column=>"next_prio"},
    {column=>"left_pid", source_column=>"prev_pid", edge=>"falling"},
    {column=>"end_state", source_column=>"prev_state", edge=>"falling"},
  ],
  partition=>"cpu",
)
