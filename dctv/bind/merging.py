"""Merge equal neighbours that touch in a span table: by the sweep where it can compare them."""

from __future__ import annotations

from dctv.bind.binding import Binding
from dctv.bind.spans import sorted_plan
from dctv.contracts.span_operator import Input
from dctv.patterns import pattern
from dctv.plan.nodes import Plan, Relation, column_names, physical_names
from dctv.plan.order import RowOrder

_OPERATOR = "merge adjacent"
# Equality of other types (nested ones with floats, intervals) is not that of their bytes.
_COMPARABLE = pattern(
    r"U?(TINYINT|SMALLINT|INTEGER|BIGINT)|BOOLEAN|VARCHAR|BLOB|DOUBLE|FLOAT|DATE|TIME|TIMESTAMP(_\w+| WITH TIME ZONE)?"
    r"|DECIMAL\(\d+, *\d+\)|ENUM\(.*\)"
)


def merged(binder: Binding, plan: Plan) -> Plan:
    """Merge spans of one partition that touch and have equal payload; NULL equals NULL."""
    schema = plan.schema
    source = sorted_plan(plan)
    options = {"partitions": len(schema.partitions), "names": physical_names(schema)}
    if all(_COMPARABLE.fullmatch(c.type) for c in schema.payload):
        # A run is known once it is over, when other partitions may have gone on.
        return binder.kernel(_OPERATOR, schema, [source], options, ordered=not schema.partitions)
    form = binder.env.operators[_OPERATOR].relational
    assert form is not None
    query = form([Input("spans", tuple(column_names(source)), schema)], options, schema)
    return Relation(schema, order=RowOrder.ANY, query=query, leaves=(("spans", source),))
