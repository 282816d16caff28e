"""Another engine than DuckDB: which parts of a plan it carries out, and how their rows go there and come back."""
