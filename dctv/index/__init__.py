"""Traces at rest: chunks, statistics, blooms, pruning, the column store, and what is known without a scan."""
