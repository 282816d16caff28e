"""Syntax tree and catalog to typed plan."""
