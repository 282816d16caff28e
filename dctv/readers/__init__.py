"""Registry of trace formats, one module each."""
