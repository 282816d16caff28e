"""Map tables that each trace of a fleet computes to the plans of their rows in one trace."""

from __future__ import annotations

from collections.abc import Collection

from dctv.plan import predicate as p
from dctv.plan.build import join, select, where
from dctv.plan.conditions import condition
from dctv.plan.expressions import Column
from dctv.plan.nodes import Plan, Relation, Scan
from dctv.plan.queries import Item
from dctv.plan.walk import replaced
from dctv.record import replace
from dctv.rewrite.graph import bottom_up
from dctv.run.fleet.table import FleetTable, in_promised_order, tables_in
from dctv.types.schema import Kind, Schema


def expanded(plan: Plan) -> Plan:
    """Return a plan for each trace in which computed tables are replaced by the plans of their rows."""
    return bottom_up(plan, _expanded)


def _expanded(plan: Plan) -> Plan:
    if not isinstance(plan, Scan) or not isinstance(plan.source, FleetTable) or plan.source.rows is None:
        return plan
    table = plan.source
    assert table.rows is not None
    fixed, schema = set(table.fixed_columns), table.read_schema
    # Traces that are not needed need no rows for this, either.
    about = p.carried(table.predicate, lambda name: name if name in fixed else None)
    rows = expanded(bottom_up(table.rows, lambda one: _narrowed(one, fixed, about)))
    # Conditions may be about columns that are not shown.
    every = {one.name: one for of in (*tables_in(rows), table) for one in of.fixed}
    trace = FleetTable(table.fleet, "trace", (), Schema(Kind.REGULAR, ()), tuple(every.values()))
    items = [Item(Column(one.name, "trace" if one.name in fixed else "own"), one.name) for one in schema.columns]
    query = join(select(*items, source="own"), "trace", "trace")
    tests = [
        replaced(test, lambda one: Column(one.name, "trace") if isinstance(one, Column) else None)
        for test in table.tests
    ]
    known = {one.name for one in schema.columns}
    needed = condition(
        p.carried(table.predicate, lambda name: name if name in known else None),
        lambda name: Column(name, "trace" if name in fixed else "own"),
    )
    query, order = in_promised_order(query, rows, plan, schema)
    return Relation(schema, order, where(query, *tests, needed), (("own", rows), ("trace", trace.scan)))


def _narrowed(plan: Plan, fixed: Collection[str], needed: p.Predicate) -> Plan:
    """Return a table that is not read in traces that are not needed, if its fixed columns say which these are."""
    if not isinstance(plan, Scan) or not isinstance(plan.source, FleetTable):
        return plan
    table = plan.source
    own = p.carried(needed, lambda name: name if name in fixed and name in table.fixed_columns else None)
    return replace(plan, source=table.narrowed(own))
