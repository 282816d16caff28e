-- Memory usage of the machine, in traces with counters of `/proc/meminfo`: one span from each sample of a counter to its next.
-- formats: *
-- column track: see `tracks`
-- column name: the counter's name, as in `/proc/meminfo`: `MemTotal`, `MemFree`, `Cached`, `SwapFree` and so on
-- column size: value of the counter
SELECT SPAN name, value IN B AS size FROM counters
WHERE unit = 'B' AND pid IS NULL AND name REGEXP '^(Mem(Total|Free|Available)|Buffers|S?Cached|Swap(Cached|Total|Free)|(Active|Inactive)(\(anon\)|\(file\))?|Unevictable|Mlocked|Dirty|Writeback|AnonPages|Mapped|Shmem|Slab|SReclaimable|SUnreclaim|KernelStack|PageTables|CommitLimit|Committed_AS|Vmalloc[A-Z][a-z]*|Cma(Total|Free)|Zram|Gpu|Ion[A-Za-z]*|Misc)$'
