"""Says that Spark cannot do what a query asks."""

from __future__ import annotations

from dctv.errors import NotOnThisEngine

WAY_OUT = "let DuckDB run it, as it does unless another engine is asked for"


def refused(what: str, why: str, hint: str = WAY_OUT) -> NotOnThisEngine:
    """Return the error for something that is not on Spark, or means something else there."""
    return NotOnThisEngine(f"{what} is not on Spark: {why}", hint=hint)


def unknown(what: str) -> NotOnThisEngine:
    """Return the error for something that depends on a type that is not known."""
    return refused(what, "what it means depends on a type that is not known here", "tell the types of all tables")
