-- Process trees and descriptors.
-- formats: perfetto
SELECT tid, pid, name FROM _tables.thread_names
