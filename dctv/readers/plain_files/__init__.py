"""What formats of plain tables share: the options of mounts, and the passes over their files."""
