"""Registries of the functions of SQL."""
