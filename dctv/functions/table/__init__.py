"""Shelf: table-valued functions."""
