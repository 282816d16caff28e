"""The small files of uftrace data directories."""
