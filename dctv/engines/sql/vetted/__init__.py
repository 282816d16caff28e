"""Convert the plan's nodes, which have DuckDB's semantics, to equivalent nodes for Spark, or refuse them."""
