-- How the machine's memory was used, as traces with counters of `/proc/meminfo` tell: one span from a value to the next one of its counter.
-- formats: *
-- column track: see `tracks`
-- column name: what is counted, as in `/proc/meminfo`: `MemTotal`, `MemFree`, `Cached`, `SwapFree` and so on
-- column size: how much
SELECT SPAN name, value IN B AS size FROM counters
WHERE unit = 'B' AND pid IS NULL AND name REGEXP '^(Mem(Total|Free|Available)|Buffers|S?Cached|Swap(Cached|Total|Free)|(Active|Inactive)(\(anon\)|\(file\))?|Unevictable|Mlocked|Dirty|Writeback|AnonPages|Mapped|Shmem|Slab|SReclaimable|SUnreclaim|KernelStack|PageTables|CommitLimit|Committed_AS|Vmalloc[A-Z][a-z]*|Cma(Total|Free)|Zram|Gpu|Ion[A-Za-z]*|Misc)$'
