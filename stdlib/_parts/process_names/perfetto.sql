-- Process trees and descriptors.
-- formats: perfetto
SELECT pid, name FROM _tables.process_names
