-- Process trees and descriptors, which need not name the main thread of a process; names from events take precedence.
-- formats: perfetto
SELECT tid, pid, name, told - 4611686018427387904 AS rank FROM _tables.thread_names
UNION ALL
SELECT pid, pid, NULL, NULL FROM _tables.process_names WHERE pid > 0
