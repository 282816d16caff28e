"""Holds the types that binding finds by itself against those that the engine tells of the same queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from dctv.bind import relations
from dctv.bind.context import BoundQuery, Environment
from dctv.errors import EngineError, Place
from dctv.plan import show
from dctv.plan.node import Query
from dctv.plan.nodes import Plan


@contextmanager
def compared() -> Iterator[list[list[str]]]:
    """Compare the types of all queries that are bound, and return a list that gets the types of each."""
    own_types, described, seen = relations._types, relations._described, list[list[str]]()

    def types(
        query: BoundQuery, leaves: Sequence[tuple[str, Plan]], env: Environment, place: Place | None
    ) -> list[str]:
        known = relations._known_types(query)
        if known is not None:
            try:
                told = described(query.query, leaves, env)
            except EngineError as error:
                told = [error.message]
            assert known == told, list(show.query(query.query))
            seen.append(known)
        return own_types(query, leaves, env, place)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relations, "_types", types)
        yield seen


@contextmanager
def counted() -> Iterator[list[str]]:
    """Return a list that gets every query whose types the engine is asked for, and tells."""
    described, asked = relations._described, list[str]()

    def counting(query: Query, leaves: Sequence[tuple[str, Plan]], env: Environment) -> list[str]:
        types = described(query, leaves, env)
        asked.append("\n".join(show.query(query)))
        return types

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relations, "_described", counting)
        yield asked
