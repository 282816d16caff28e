"""Parts of `dctv compare`: its arguments, running the queries for each side, and verdicts."""
