"""Errors for queries that Spark cannot run as DuckDB does."""

from __future__ import annotations

from dctv.errors import NotOnThisEngine

HINT = "let DuckDB run it, which is the default engine"


def refused(what: str, why: str, hint: str = HINT) -> NotOnThisEngine:
    """Return the error for something that Spark lacks, or that means something else there."""
    return NotOnThisEngine(f"{what} is not on Spark: {why}", hint=hint)


def unknown(what: str) -> NotOnThisEngine:
    """Return the error for something that depends on an unknown type."""
    return refused(what, "its meaning depends on an unknown type", "give the types of all tables")
