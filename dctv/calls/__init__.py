"""Filters of call trees: words of a filter to a typed plan, and to what it says of each function."""
