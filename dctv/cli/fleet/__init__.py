"""Reports over many traces: one job for each, in processes of their own, and their results one below the other."""
