"""Queries of the plan -> the SQL of engines. Nothing else writes SQL."""
