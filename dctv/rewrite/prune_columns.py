"""Drop unread columns of kernels, relations and scans.

Sound because a column is left out only where (1) no reader names it, (2) the operator's lineage says that the columns
that stay do not depend on it, and (3) a relation's rows are the same without it: not under DISTINCT, in a compound
other than UNION ALL, where ORDER BY or GROUP BY count columns, or where the column checks, multiplies or counts rows.
Times and partitions of operators and of what comes in order of time always stay. A span table that is sorted by all of
its columns is sorted by time and partitions alone: two spans of one partition never start together, so the others never
decided. Other rows are sorted by as many columns as decide the order of what is read. A computation that could fail,
such as a cast, does not run when no reader needs it; errors that are checks (`error`) stay.

Columns are known by the engine's names, which a narrower schema takes over: `x:2` stays `x:2` when `x` goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dctv.contracts.span_operator import SpanOperator
from dctv.plan.build import columns, named, select
from dctv.plan.expressions import Column
from dctv.plan.node import Query
from dctv.plan.nodes import Kernel, Plan, Relation, Scan, column_names, physical_names
from dctv.plan.queries import Compound, Select
from dctv.record import field, record, replace
from dctv.rewrite.graph import inputs, readers_first, with_inputs
from dctv.rewrite.select_lists import named_columns, narrowed, result_names
from dctv.rewrite.sort_keys import compares_exactly, deciding_keys
from dctv.types.schema import TS, Kind, Schema


def prune_columns(plan: Plan, operators: Mapping[str, SpanOperator]) -> Plan:
    """Read and compute only the columns that are read above."""
    order = readers_first(plan)
    exact = compares_exactly(order)
    needed: dict[int, set[str]] = {id(one): _always(one) for one in order}
    needed[id(plan)] = set(column_names(plan))
    changed: dict[int, _Narrow] = {}
    for node in order:
        narrow = _narrow(node, needed[id(node)], operators, exact=exact)
        changed[id(node)] = narrow
        for one, names in zip(inputs(node), narrow.reads, strict=True):
            needed[id(one)] |= set(names)
    new: dict[int, Plan] = {}
    for node in reversed(order):
        made = [new[id(one)] for one in inputs(node)]
        narrow = changed[id(node)]
        if isinstance(node, Kernel):
            made = [_projected(one, names) for one, names in zip(made, narrow.reads, strict=True)]
        new[id(node)] = with_inputs(narrow.plan, tuple(made))
    return new[id(plan)]


def _always(plan: Plan) -> set[str]:
    """Return the columns that stay even if none reads them."""
    stays = isinstance(plan, Kernel) or plan.ordered
    return set(column_names(plan)[: plan.schema.special_count]) if stays else set()


@record
class _Narrow:
    """A plan without its unread columns, over its old inputs, and the columns that it reads of these."""

    plan: Plan
    reads: list[list[str]] = field(default_factory=list)


def _narrow(plan: Plan, needed: set[str], operators: Mapping[str, SpanOperator], *, exact: bool) -> _Narrow:
    match plan:
        case Kernel():
            return _kernel(plan, needed, operators[plan.name])
        case Relation():
            return _relation(plan, needed, exact=exact)
        case Scan():
            return _Narrow(_scan(plan, needed))
        case _:
            raise AssertionError(type(plan))


def _scan(scan: Scan, needed: set[str]) -> Scan:
    """Pass a source the columns that are read; the schema stays, since no query names the others."""
    source = scan.source if needed.issuperset(column_names(scan)) else scan.source.reading(frozenset(needed))
    return scan if source is scan.source else replace(scan, source=source)


def _kernel(kernel: Kernel, needed: set[str], operator: SpanOperator) -> _Narrow:
    names = column_names(kernel)
    whole = [column_names(one) for one in kernel.inputs]
    if operator.lineage is None:
        return _Narrow(kernel, whole)
    lineage = operator.lineage([one.schema for one in kernel.inputs], kernel.options, kernel.schema)
    outputs = [c for c, reads in enumerate(lineage.reads) if reads is None or names[c] in needed]
    if len(outputs) == len(names):
        return _Narrow(kernel, whole)
    may_go = {one for reads in lineage.reads for one in reads or ()}
    stays = {one for c in outputs for one in lineage.reads[c] or ()}
    kept = [[c for c in range(len(own)) if (i, c) in stays or (i, c) not in may_go] for i, own in enumerate(whole)]
    options = lineage.options(outputs, kept) if lineage.options is not None else kernel.options
    options = {**options, "names": [names[c] for c in outputs]}
    schema = _only(kernel.schema, names, options["names"])
    reads = [[own[c] for c in left] for own, left in zip(whole, kept, strict=True)]
    return _Narrow(replace(kernel, schema=schema, options=options), reads)


def _relation(relation: Relation, needed: set[str], *, exact: bool) -> _Narrow:
    names = column_names(relation)
    leaves = {name: column_names(leaf) for name, leaf in relation.leaves}
    if not needed.issuperset(names):
        query = narrowed(_sorted_by_fewer(relation, needed, exact=exact), needed, leaves)
        left = result_names(query)
        if left is not None and left != names and set(left) <= set(names):
            relation = replace(relation, query=query, schema=_only(relation.schema, names, left))
    return _Narrow(relation, named_columns(relation.query, leaves))


def _sorted_by_fewer(relation: Relation, needed: set[str], *, exact: bool) -> Query:
    """Drop columns from the order of rows that others decide: of spans, times and partitions."""
    schema, query = relation.schema, relation.query
    assert isinstance(query, Select | Compound)
    terms = [term.operand.name if isinstance(term.operand, Column) else None for term in query.order_by]
    partitions = set(physical_names(schema)[2 : schema.special_count])
    first = 1 + len(partitions)
    if schema.kind is Kind.SPAN and terms[:1] == [TS] and set(terms[1:first]) == partitions:
        left = [one for i, one in enumerate(query.order_by) if i < first or terms[i] is None or terms[i] in needed]
        return replace(query, order_by=tuple(left))
    deciding = deciding_keys(relation, needed) if exact else None
    return query if deciding is None else replace(query, order_by=query.order_by[:deciding])


def _only(schema: Schema, names: Sequence[str], left: Sequence[str]) -> Schema:
    """Return a schema of some columns, with the engine's names; a regular one without all times and partitions."""
    by_name = {n: replace(c, name=n) for n, c in zip(names, schema.columns, strict=True)}
    times, special = len(schema.kind.time_columns), names[: schema.special_count]
    columns = tuple(by_name[n] for n in left)
    if not set(special) <= set(left):
        return Schema(Kind.REGULAR, columns)
    return Schema(schema.kind, columns, tuple(special[times:]))


def _projected(plan: Plan, names: Sequence[str]) -> Plan:
    """Hand a sweep, which counts columns, just those that it reads."""
    own = column_names(plan)
    if list(names) == own:
        return plan
    query = select(*named(columns(names, "wide"), names), source="wide")
    schema = _only(plan.schema, own, names)
    return Relation(schema, order=plan.order, query=query, leaves=(("wide", plan),))
