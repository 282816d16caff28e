"""Slices that may overlap -> slices with parents and lanes, as a query of the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from dctv.contracts.span_operator import Input
from dctv.errors import UsageError
from dctv.types.schema import Schema


def nest_lanes(_inputs: Sequence[Input], _options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Refuse."""
    raise UsageError("nested slices have no relational form", hint="SET span_engine = 'kernels'")
