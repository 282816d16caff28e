"""Span operators as queries of the engine, which give the rows of their sweeps."""
