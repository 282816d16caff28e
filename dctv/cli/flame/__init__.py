"""Flame graphs: read frames from a query, lay them out, and write an SVG picture."""
