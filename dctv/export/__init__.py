"""Mounted traces and results of queries -> the formats of timeline viewers, and folders of Parquet files."""
