"""Kernel events: their fields, units and tables, and reading their text in chunks."""
