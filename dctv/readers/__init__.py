"""Shelf: trace formats, one file each."""
