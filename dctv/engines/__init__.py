"""Shelf: where relational regions run."""
