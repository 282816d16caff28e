"""Fleets: many traces mounted as one, whose tables have the rows of all; each trace is read by itself."""
