-- Threads that each CPU runs, without idle times: one span from each switch to the next on the same CPU, as in `scheduler.timeslices_p_cpu`.
-- formats: *
-- column cpu: the CPU
-- column tid: the running thread
-- column comm: its name
-- column prio: its priority, as recorded
-- column end_state: its state when it was switched out (`R`: still runnable, `S`: sleeping, `D`: uninterruptible)
SELECT SPAN pid AS tid, comm, prio, end_state FROM scheduler.timeslices_p_cpu WHERE pid != 0
