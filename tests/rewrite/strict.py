"""Stored tables that omit every row and value that they may omit: the needed ones must be enough."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pyarrow as pa

from dctv.contracts.states import DeferredRows
from dctv.plan.predicate import Predicate
from dctv.plan.source import RowsInMemory
from tests.index.evaluator import truth


@contextmanager
def strict(needs: list[Predicate] | None = None) -> Iterator[None]:
    """Let all tables in memory omit all that they may; record what is needed of them."""
    noted = [] if needs is None else needs

    def narrowed(held: RowsInMemory, predicate: Predicate) -> RowsInMemory:
        noted.append(predicate)
        if isinstance(held, DeferredRows):
            return held
        rows = [{**row, "luck": True} for row in held.data.to_pylist()]
        return RowsInMemory(held.data.filter(pa.array([truth(predicate, row) is True for row in rows], pa.bool_())))

    def reading(held: RowsInMemory, columns: Collection[str]) -> RowsInMemory:
        if isinstance(held, DeferredRows):
            return held
        data: Any = held.data
        for place, one in enumerate(data.schema):
            if one.name not in columns:
                data = data.set_column(place, one, pa.nulls(len(data), one.type))
        return RowsInMemory(data)

    with patch.object(RowsInMemory, "narrowed", narrowed), patch.object(RowsInMemory, "reading", reading):
        yield
