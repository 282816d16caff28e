"""Flame graphs: frames of a query to boxes, and those to an SVG picture."""
