"""Reports over many traces: one job per trace, in separate processes, with concatenated results."""
