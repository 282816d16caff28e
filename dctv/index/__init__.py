"""Traces on disk: chunks, statistics, Bloom filters, pruning, the column store, and answers without a scan."""
