"""Shelf: what SQL can call."""
