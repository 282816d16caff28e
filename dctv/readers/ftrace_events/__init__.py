"""Events of the kernel: their fields, units and tables, and how their text is read in chunks."""
