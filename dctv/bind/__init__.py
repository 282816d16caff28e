"""Bind syntax trees to the catalog: the results are typed plans."""
