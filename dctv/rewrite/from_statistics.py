"""Answer queries that only group and aggregate a stored table from the table's statistics.

Sound because a source answers exactly or not at all (but for approximate quantiles), and because nothing else of the
query can tell the difference: it reads one table, once, without a condition, and every column in it is a group key or
occurs in an aggregate that the question names. Each group is one row of the answer, so aggregates become columns,
HAVING becomes WHERE, and GROUP BY goes; select list, ORDER BY and LIMIT stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from dctv.contracts.span_operator import SpanOperator
from dctv.plan.expressions import (
    Call,
    Column,
    Expression,
    Star,
)
from dctv.plan.node import Node, Query
from dctv.plan.nodes import Plan, Relation, Scan, column_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Select, TableName
from dctv.plan.question import Aggregate, Question
from dctv.plan.rows import of_rows
from dctv.plan.source import FromStatistics, RowsInMemory
from dctv.plan.walk import children, nested, replaced, walk
from dctv.record import field, record, replace
from dctv.rewrite.graph import bottom_up
from dctv.rewrite.grouped_expressions import is_of_group, is_plain
from dctv.rewrite.literals import Double, literal_of
from dctv.rewrite.select_lists import has_effect, may_aggregate
from dctv.types.schema import ColumnType, Kind, Schema

_FUNCTIONS = {
    "count": "count",
    "sum": "sum",
    "avg": "avg",
    "mean": "avg",
    "min": "min",
    "max": "max",
    "variance": "var_samp",
    "var_samp": "var_samp",
    "var_pop": "var_pop",
    "stddev": "stddev_samp",
    "stddev_samp": "stddev_samp",
    "stddev_pop": "stddev_pop",
    "approx_quantile": "approx_quantile",
}
_TYPES = {"count": "BIGINT", "sum": "HUGEINT", "min": "BIGINT", "max": "BIGINT", "approx_quantile": "BIGINT"}
"""Types of aggregates over 64-bit integers; others are doubles."""


def from_statistics(plan: Plan, _: Mapping[str, SpanOperator]) -> Plan:
    """Replace the reads of a plan that statistics can answer."""
    return bottom_up(plan, lambda node: _answered(node) if isinstance(node, Relation) else node)


def _answered(relation: Relation) -> Relation:
    for name, leaf in relation.leaves:
        stored = _stored(leaf)
        # Rows in memory have no statistics, so their queries need no check.
        if stored is not None and not isinstance(stored.scan.source, RowsInMemory):
            select = relation.query.once(_readers).get(name)
            found = None if select is None else _from(relation, select, name, stored)
            if found is not None:
                return found
    return relation


def _readers(query: Query) -> Mapping[str, Select]:
    """Return the selects that only group, aggregate, sort and cut a table which nothing else reads, by its name."""
    nodes = list(walk(query))
    reads = Counter(node.name for node in nodes if isinstance(node, TableName))
    return {
        select.source.name: select
        for select in nodes
        if isinstance(select, Select)
        and isinstance(select.source, TableName)
        and reads[select.source.name] == 1
        and _reads_only(select, select.source)
    }


@record
class _Stored:
    """A stored table, or a row-by-row projection of one."""

    scan: Scan
    columns: Mapping[str, str]
    """Columns of the table itself, with their names there."""


def _stored(plan: Plan) -> _Stored | None:
    if isinstance(plan, Scan):
        return _Stored(plan, {name: name for name in column_names(plan)})
    if not isinstance(plan, Relation) or len(plan.leaves) != 1 or not isinstance(plan.query, Select):
        return None
    ((name, leaf),), query = plan.leaves, plan.query
    source, items = query.source, query.items
    if not isinstance(leaf, Scan) or not isinstance(source, TableName) or source.name != name or source.columns:
        return None
    if query != Select(items, source) or any(one.is_star for one in items) or nested(*items) or may_aggregate(query):
        return None
    if has_effect(*items):
        return None
    there = column_names(leaf)
    own = {one.output: one.value.name for one in items if isinstance(one.value, Column) and one.value.name in there}
    return _Stored(leaf, own)


def _from(relation: Relation, select: Select, name: str, stored: _Stored) -> Relation | None:
    """Return a relation that reads an answer in place of a table."""
    assert select.source is not None
    scan = stored.scan
    asking = _Asking(stored, select.source.called)
    if not asking.read(select):
        return None
    rows = scan.source.answers(Question(asking.stored_keys, tuple(asking.aggregates)))
    if rows is None:
        return None
    schema = Schema(Kind.REGULAR, tuple(ColumnType(n, t) for n, t in asking.columns().items()))
    answer = Scan(schema, order=RowOrder.STABLE, name=scan.name, source=FromStatistics(of_rows(schema, rows).query))
    new = asking.query(select, name)
    query = replaced(relation.query, lambda node: new if node is select else None)
    leaves = tuple((one, answer if one == name else leaf) for one, leaf in relation.leaves)
    return replace(relation, query=query, leaves=leaves)


def _reads_only(select: Select, source: TableName) -> bool:
    """Whether a select reads one table and does no more than group, aggregate, sort and cut."""
    more = (*select.joins, *select.steps, select.where, select.qualify)
    return not source.columns and not select.distinct and all(one is None for one in more)


@record(frozen=False)
class _Asking:
    """The question that a select asks of a table."""

    stored: _Stored
    alias: str
    keys: list[str] = field(default_factory=list)
    aggregates: list[Aggregate] = field(default_factory=list)

    def read(self, select: Select) -> bool:
        """Read a select; return whether statistics can answer it."""
        group = select.group
        if group is not None:
            names = [self._column(one) for one in group.keys]
            if group.all or None in names:
                return False
            self.keys = list(dict.fromkeys(name for name in names if name is not None))
            if len(set(self.stored_keys)) < len(self.keys):
                return False
        parts = (*select.items, select.having, *select.order_by)
        fits = all(self._fits(part) for part in parts if part is not None)
        return fits and (group is not None or bool(self.aggregates))

    @property
    def stored_keys(self) -> tuple[str, ...]:
        """The keys as the stored table calls them."""
        return tuple(self.stored.columns[key] for key in self.keys)

    def _fits(self, node: Node) -> bool:
        """Note the aggregates in an expression; False if it needs anything else than these and keys."""
        if isinstance(node, Column):
            return self._column(node) in self.keys
        one = self.aggregate(node)
        if one is not None:
            if one not in self.aggregates:
                self.aggregates.append(one)
            return True
        return is_of_group(node) and all(self._fits(child) for child in children(node))

    def _column(self, node: Node) -> str | None:
        """Return the column of the stored table that an expression is, by its name in the query."""
        if not isinstance(node, Column) or node.table not in (None, self.alias):
            return None
        return node.name if node.name in self.stored.columns else None

    def _subject(self, node: Node) -> str | None:
        """Return the column of the stored table that an expression is."""
        name = self._column(node)
        return None if name is None else self.stored.columns[name]

    def aggregate(self, node: Node) -> Aggregate | None:
        """Read an aggregate."""
        if not isinstance(node, Call) or not is_plain(node):
            return None
        function = _FUNCTIONS.get(node.function)
        match node.arguments:
            case () | (Star(None),):
                return Aggregate("count") if function == "count" else None
            case (value,) if function is not None and function != "approx_quantile":
                subject = self._subject(value)
                return None if subject is None else Aggregate(function, subject)
            case (value, share) if function == "approx_quantile":
                subject = self._subject(value)
                return None if subject is None else Aggregate(function, subject, _share(share))
            case _:
                return None

    def columns(self) -> dict[str, str]:
        """Return names and types of the answer's columns."""
        scan = self.stored.scan
        types = dict(zip(column_names(scan), (c.type for c in scan.schema.columns), strict=True))
        found = {key: types[own] for key, own in zip(self.keys, self.stored_keys, strict=True)}
        for number, one in enumerate(self.aggregates):
            found[self._name(number)] = _TYPES.get(one.function, "DOUBLE")
        return found

    def _name(self, number: int) -> str:
        one = self.aggregates[number]
        share = "" if one.quantile is None else f", {float(one.quantile)}"
        return f"{one.function}({one.column or '*'}{share})"

    def query(self, select: Select, leaf: str) -> Select:
        """Return the select over the answer."""

        def known(node: Node) -> Node | None:
            one = self.aggregate(node)
            return None if one is None else Column(self._name(self.aggregates.index(one)), self.alias)

        made = replaced(select, known)
        return replace(made, source=TableName(leaf, self.alias), where=made.having, group=None, having=None)


def _share(value: Expression) -> Fraction | None:
    found = literal_of(value)
    return Fraction(found.value) if isinstance(found, Double) and 0 <= found.value <= 1 else None
