"""Holds the types that binding finds by itself against those that the engine tells of the same queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import pytest

from dctv.bind import relations
from dctv.bind.context import BoundQuery, Environment
from dctv.engines.duckdb import DuckDB
from dctv.engines.sql.duckdb import write
from dctv.errors import EngineError, Place
from dctv.plan import show
from dctv.plan.node import Query
from dctv.plan.nodes import Plan


@contextmanager
def compared() -> Iterator[list[list[str]]]:
    """Compare the types of all queries that are bound, and return a list that gets the types of each."""
    own_types, seen = relations._types, list[list[str]]()

    def types(
        query: BoundQuery, leaves: Sequence[tuple[str, Plan]], env: Environment, place: Place | None
    ) -> list[str]:
        known = relations._known_types(query)
        if known is not None:
            try:
                told = relations._described(query.query, leaves, env)
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
    describe, asked = DuckDB.describe, list[str]()

    def counting(self: DuckDB, query: Query, sources: Mapping[str, object] | None = None) -> list[tuple[str, str]]:
        found = describe(self, query, sources)
        asked.append(write(query))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DuckDB, "describe", counting)
        yield asked
