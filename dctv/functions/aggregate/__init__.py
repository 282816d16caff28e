"""Registry of the unit rules of aggregate functions."""
