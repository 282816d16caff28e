"""Optimize bound plans: apply the rules in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dctv.contracts.span_operator import SpanOperator
from dctv.plan.nodes import Plan
from dctv.rewrite.cut_fleets import cut_fleets
from dctv.rewrite.drop_copies import drop_copies
from dctv.rewrite.drop_empty import drop_empty
from dctv.rewrite.drop_joins import drop_joins
from dctv.rewrite.drop_orders import drop_orders
from dctv.rewrite.drop_partitions import drop_partitions
from dctv.rewrite.drop_sorts import drop_sorts
from dctv.rewrite.from_statistics import from_statistics
from dctv.rewrite.narrow_scans import narrow_scans
from dctv.rewrite.prune_columns import prune_columns
from dctv.rewrite.push_filter import push_filter
from dctv.rewrite.read_members import read_members
from dctv.rewrite.relational import relational
from dctv.rewrite.settings import RewriteSettings

RULES: tuple[Callable[[Plan, Mapping[str, SpanOperator]], Plan], ...] = (
    drop_joins,
    drop_empty,
    from_statistics,
    read_members,
    push_filter,
    narrow_scans,
    drop_orders,
    drop_sorts,
    drop_partitions,
    prune_columns,
    drop_copies,
    cut_fleets,
)
"""Each rule alone leaves every result as it is; they are applied in this order."""


def rewrite(plan: Plan, settings: RewriteSettings, operators: Mapping[str, SpanOperator]) -> Plan:
    """Return a plan with the same result."""
    if settings.rewrite == "on":
        for rule in RULES:
            plan = rule(plan, operators)
    return relational(plan, operators) if settings.span_engine == "relational" else plan
