"""Registry of engines: where relational regions run."""
