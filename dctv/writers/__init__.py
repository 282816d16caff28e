"""Shelf: result formats, one file each."""
