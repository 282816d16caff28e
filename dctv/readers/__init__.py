"""Registry of trace formats, one file each."""
