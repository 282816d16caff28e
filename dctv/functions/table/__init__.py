"""Registry of table-valued functions."""
