"""Registry of result formats, one file each."""
