"""Stored tables that omit every row and value that they may omit: the needed ones must be enough."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pyarrow as pa

from dctv.contracts.states import Computed
from dctv.plan.predicate import Predicate
from dctv.plan.source import Held
from tests.index.evaluator import truth


@contextmanager
def strict(needs: list[Predicate] | None = None) -> Iterator[None]:
    """Let all tables in memory omit all that they may; record what is needed of them."""
    noted = [] if needs is None else needs

    def narrowed(held: Held, predicate: Predicate) -> Held:
        noted.append(predicate)
        if isinstance(held, Computed):
            return held
        rows = [{**row, "luck": True} for row in held.data.to_pylist()]
        return Held(held.data.filter(pa.array([truth(predicate, row) is True for row in rows], pa.bool_())))

    def reading(held: Held, columns: Collection[str]) -> Held:
        if isinstance(held, Computed):
            return held
        data: Any = held.data
        for place, one in enumerate(data.schema):
            if one.name not in columns:
                data = data.set_column(place, one, pa.nulls(len(data), one.type))
        return Held(data)

    with patch.object(Held, "narrowed", narrowed), patch.object(Held, "reading", reading):
        yield
