"""Remove empty inputs of relations: branches of unions, joined tables, and queries over these alone.

Views of the standard library are made for every format, so most inputs of a view have no rows in a given trace.
The engine would find that as well, but only after each part has been written, read again and planned.

Sound because of the effect of each operation on no rows:

- A filter that is FALSE leaves none. So does a first source without rows, and one that is joined by INNER, CROSS or
  SEMI, as long as no join is RIGHT or FULL.
- Of no rows, a select that groups by keys makes no groups, and one that does not group has no result. One that
  aggregates without keys has one row, so it stays. A select is known not to be such where its list holds no calls, or
  a column outside of calls, which SQL does not allow beside an aggregate.
- A LEFT JOIN fills columns without a match with NULL; an ANTI JOIN with nothing leaves all rows.
- A branch of a union gives it types, and names if it is the first. It goes where the types of all branches are known
  and agree, or where the union is the whole of a relation, whose types are known: its columns are cast to these.

A computation that goes could not have failed or warned, since it would have met no row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from dctv.contracts.span_operator import SpanOperator
from dctv.plan.build import typed_nothing
from dctv.plan.expressions import FALSE, NULL, Call, Cast, Column, Expression, Star, Window
from dctv.plan.node import Node, Query
from dctv.plan.nodes import Plan, Relation, column_names
from dctv.plan.queries import Compound, Derived, FromItem, GroupingSets, Item, Join, Select, TableName
from dctv.plan.walk import children, replaced, walk
from dctv.record import record, replace
from dctv.rewrite.graph import bottom_up
from dctv.rewrite.joined_sources import is_about, stands_apart
from dctv.rewrite.needed_rows import Needs
from dctv.rewrite.select_lists import result_names
from dctv.rewrite.select_shapes import clauses
from dctv.types.schema import Schema

_EVERY = "every"


def drop_empty(plan: Plan, _: Mapping[str, SpanOperator]) -> Plan:
    """Remove inputs without rows."""
    empty: set[int] = set()

    def changed(node: Plan) -> Plan:
        return _without(node, empty) if isinstance(node, Relation) else node

    return bottom_up(plan, changed)


def _without(relation: Relation, empty: set[int]) -> Relation:
    """Return a relation without inputs that yield no rows; note it if it has no rows itself."""
    names = {name for name, leaf in relation.leaves if id(leaf) in empty}
    query = relation.query
    if not names and not (isinstance(query, Select) and query.where == FALSE):
        return relation
    types = {name: _types(leaf) for name, leaf in relation.leaves}
    new = _Emptying(names, types, Needs(types)).query(query, relation.schema)
    if new is None:
        made = replace(relation, query=typed_nothing(relation.schema), leaves=(), serial=False)
        empty.add(id(made))
        return made
    if new is query:
        return relation
    read = {node.name for node in walk(new) if isinstance(node, TableName)}
    return replace(relation, query=new, leaves=tuple(leaf for leaf in relation.leaves if leaf[0] in read))


def _types(plan: Plan) -> dict[str, str]:
    return dict(zip(column_names(plan), (column.type for column in plan.schema.columns), strict=True))


@record
class _Emptying:
    """A relation's leaves."""

    empty: Collection[str]
    """Names of those without rows."""
    types: Mapping[str, Mapping[str, str]]
    """Types of columns by the leaf's name."""
    needs: Needs

    def query(self, query: Query, schema: Schema | None = None) -> Query | None:
        """Return a query without its empty inputs, None if it has no rows; `schema` is that of a whole relation."""
        assert isinstance(query, Select | Compound)
        if query.steps:
            return query
        return self._select(query) if isinstance(query, Select) else self._compound(query, schema)

    def _select(self, select: Select) -> Query | None:
        sources = [self._source(source) for source in select.sources]
        kinds = ["INNER", *(join.kind for join in select.joins)]
        outer = "RIGHT" in kinds or "FULL" in kinds
        needed = [source for source, kind in zip(sources, kinds, strict=False) if kind in ("INNER", "CROSS", "SEMI")]
        if select.where == FALSE or (None in needed and not outer):
            return None if self._has_no_result(select) else select
        joins = []
        gone = []
        for join, source in zip(select.joins, sources[1:], strict=True):
            if source is None and not outer and self._may_go(select, join):
                gone.append(join)
            else:
                joins.append(join if source in (None, join.source) else replace(join, source=source))
        if not gone and all(new in (None, old) for new, old in zip(sources, select.sources, strict=True)):
            return select
        first = sources[0] if sources and sources[0] is not None else select.source
        made = replace(select, source=first, joins=tuple(joins))
        for join in gone:
            if join.kind == "LEFT":
                made = self._without_columns(made, join.source)
        return made

    def _source(self, source: FromItem) -> FromItem | None:
        match source:
            case TableName(name):
                return None if name in self.empty else source
            case Derived(query):
                inner = self.query(query)
                return None if inner is None else source if inner is query else replace(source, query=inner)
            case _:
                return source

    def _has_no_result(self, select: Select) -> bool:
        """Whether a select without rows to work on has none itself."""
        group = select.group
        if group is not None:
            return bool(group.keys) and not any(isinstance(key, GroupingSets) for key in group.keys)
        if select.having is not None:
            return False
        calls = any(isinstance(node, Call) for node in walk(*select.items, *clauses(select)))
        return not calls or any(self._is_of(select, node) for item in select.items for node in _outside_calls(item))

    def _is_of(self, select: Select, node: Node) -> bool:
        """Whether a node is a column of a select's own sources; those of enclosing queries may be anywhere."""
        if not isinstance(node, Column):
            return isinstance(node, Star)
        if node.table is not None:
            return node.table in {source.called for source in select.sources}
        only = select.source
        return isinstance(only, TableName) and not select.joins and node.name in self.types.get(only.name, ())

    def _may_go(self, select: Select, join: Join) -> bool:
        """Whether a join that finds nothing may go, with the columns that it would have given."""
        if join.kind != "LEFT":
            return join.kind == "ANTI"
        source = join.source
        return isinstance(source, TableName) and stands_apart(select, source, self.types[source.name])

    def _without_columns(self, select: Select, source: FromItem) -> Select:
        """Write NULL for the columns of a source that is gone."""
        assert isinstance(source, TableName)
        called, types = source.called.lower(), self.types[source.name]

        def nothing(node: Node) -> Node | None:
            match node:
                case Item(Column() as column, None) if is_about(column, called):
                    return Item(Cast(NULL, types[column.name]), column.name)
                case Column() if is_about(node, called):
                    return Cast(NULL, types[node.name])
                case _:
                    return None

        return replaced(select, nothing)

    def _compound(self, compound: Compound, schema: Schema | None) -> Query | None:
        parts = [self.query(part) for part in compound.parts]
        if parts[0] is None and compound.operator != "UNION":
            return None
        left = [part for part in parts if part is not None]
        if len(left) < len(parts) and compound.operator == "UNION":
            made = self._union(compound, left, schema) if left else None
            if made is not None or not left:
                return made
        whole = tuple(old if new is None else new for new, old in zip(parts, compound.parts, strict=True))
        same = all(new is old for new, old in zip(whole, compound.parts, strict=True))
        return compound if same else replace(compound, parts=whole)

    def _union(self, compound: Compound, left: list[Query], schema: Schema | None) -> Query | None:
        """Return a union of some of its branches, with the names and types that it had; None if these are not known."""
        names = result_names(compound.parts[0])
        own = result_names(left[0])
        if names is None or own is None or any(not isinstance(term.operand, Column) for term in compound.order_by):
            return None
        if own != names:
            assert isinstance(left[0], Select)
            renamed = [Item(item.value, name) for item, name in zip(left[0].items, names, strict=True)]
            left = [replace(left[0], items=tuple(renamed)), *left[1:]]
        types: list[str] | None = None
        if len(set(names)) < len(names) or any(self.needs.type_of(compound, name) is None for name in names):
            if schema is None:
                return None
            types = [column.type for column in schema.columns]
        if types is None and len(left) > 1:
            return replace(compound, parts=tuple(left))
        together = left[0] if len(left) == 1 else Compound("UNION", tuple(left), compound.all)
        columns: list[Expression] = [Column(name, _EVERY) for name in names]
        if types is not None:
            columns = [Cast(column, kind) for column, kind in zip(columns, types, strict=True)]
        return Select(
            tuple(Item(value, name) for value, name in zip(columns, names, strict=True)),
            Derived(together, _EVERY),
            distinct=not compound.all,
            order_by=compound.order_by,
            limit=compound.limit,
            offset=compound.offset,
        )


def _outside_calls(node: Node) -> Iterator[Node]:
    """Yield the nodes within a node that are outside of its calls, windows and queries."""
    yield node
    for child in children(node):
        if not isinstance(child, Call | Window | Query):
            yield from _outside_calls(child)
