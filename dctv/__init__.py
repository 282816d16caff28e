"""SQL over trace files: see `dctv.Session`."""
