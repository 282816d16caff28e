"""Shelf: unit rules of aggregate functions."""
