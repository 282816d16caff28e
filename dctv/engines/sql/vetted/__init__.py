"""The plan's nodes, which mean what DuckDB means by them -> nodes that mean the same on Spark, or a refusal."""
