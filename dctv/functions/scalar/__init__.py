"""Shelf: unit rules of scalar functions."""
