-- What each CPU runs while not idle: as `scheduler.timeslices_p_cpu` one span from a switch to the next one on the same CPU, idle times left out.
-- formats: *
-- column cpu: the CPU
-- column tid: the running thread
-- column comm: its name
-- column prio: its priority, as the kernel says
-- column end_state: the state it was left in (`R`: still runnable, `S`: sleeping, `D`: uninterruptible)
SELECT SPAN pid AS tid, comm, prio, end_state FROM scheduler.timeslices_p_cpu WHERE pid != 0
