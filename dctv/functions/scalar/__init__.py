"""Registry of the unit rules of scalar functions."""
