"""Compare the types that binding computes with the engine's types of the same queries."""

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
from dctv.signatures.types import STATE, Type, parse, plain, with_children

_OF_THE_QUERY_AROUND = "eferenced table"
"""Stands in what the engine says of a query that reads columns of one around it, where it is asked of it alone."""


@contextmanager
def compared() -> Iterator[list[list[str]]]:
    """Compare the types of all queries that are bound, and return a list that gets the types of each."""
    own_types, described, seen = relations._types, relations.types_of, list[list[str]]()

    def types(
        query: BoundQuery, leaves: Sequence[tuple[str, Plan]], env: Environment, place: Place | None
    ) -> list[str]:
        known = relations._known_types(query)
        if known is not None:
            try:
                columns = described(query.query, leaves, env)
            except EngineError as error:
                if _OF_THE_QUERY_AROUND in error.message:
                    return own_types(query, leaves, env, place)
                columns = [error.message]
            # The engine says of a state no more than that it is one, and drops a cast to what it is made of.
            same = [STATE if there == STATE else _bare(here) for here, there in zip(known, columns, strict=False)]
            assert (same, len(known)) == (columns, len(columns)), [known, columns, *show.query(query.query)]
            seen.append(known)
        return own_types(query, leaves, env, place)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relations, "_types", types)
        yield seen


@contextmanager
def counted() -> Iterator[list[str]]:
    """Return a list that collects every query whose types the engine returns."""
    described, asked = relations.types_of, list[str]()

    def counting(query: Query, leaves: Sequence[tuple[str, Plan]], env: Environment) -> list[str]:
        types = described(query, leaves, env)
        asked.append("\n".join(show.query(query)))
        return types

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relations, "types_of", counting)
        yield asked


def _bare(known: str) -> str:
    """Write a type as the engine does, which says of states nothing else."""

    def bare(one: Type) -> Type:
        return plain(STATE) if one.name == STATE else with_children(one, tuple(map(bare, one.children)))

    return bare(parse(known)).text if STATE in known else known
