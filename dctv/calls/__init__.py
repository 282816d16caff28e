"""Filters of call trees: parse their words into rules, and evaluate these for each function."""
