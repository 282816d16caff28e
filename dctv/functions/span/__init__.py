"""Shelf: span operators."""
