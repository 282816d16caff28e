"""The interface of a scalar, aggregate or window function: its name, and its effect on units."""

from __future__ import annotations

from typing import Literal

from dctv.record import record
from dctv.types.unit_rules import UnitRule

FunctionKind = Literal["scalar", "aggregate", "window"]
"""Aggregates may be called with OVER too; window functions only with OVER."""


@record
class FunctionRule:
    """A function of SQL as the binder sees it; one that is not registered is scalar and follows `UnitRule.BARE`."""

    name: str
    """Its name in the engine, in lower case."""
    kind: FunctionKind
    rule: UnitRule
    doc: str
    """One line on its result, for the reference and for completion."""
