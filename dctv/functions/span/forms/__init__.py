"""Span operators as queries of the engine that return the rows of their sweeps."""
