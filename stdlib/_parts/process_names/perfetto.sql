-- Process trees and descriptors; later ones win.
-- formats: perfetto
SELECT pid, name, told AS rank, ppid AS parent FROM _tables.process_names
