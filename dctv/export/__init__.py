"""Export mounted traces and query results to formats of timeline viewers, and to folders of Parquet files."""
