"""Shared parts of the formats of plain tables: options of mounts, and passes over files."""
