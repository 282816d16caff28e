"""Registries of what SQL can call."""
