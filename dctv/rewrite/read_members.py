"""Read members of JSON objects from the columns that the objects are made of.

The `args` of an event are a JSON object of the columns of its table. Where a query extracts a member of it, the tables
pass on that column instead, through the queries and unions between: no JSON is written only to be parsed, conditions
on a member become conditions on a column, and the other columns are not read unless something else of `args` is.

Sound because a member of an object is the value that it was made of, as text: texts, integers and booleans are cast;
for other types an object is made that has this member alone. A member that is NULL is missing from the object, so
extracting it gives NULL, too. Rows stay as they are, since only a select that gives its rows one by one gets more
columns, and only where no reader reads all of its columns, by a star or a span operator.
"""

from __future__ import annotations

from collections.abc import Mapping

from dctv.contracts.span_operator import SpanOperator
from dctv.patterns import pattern
from dctv.plan.build import adding, call
from dctv.plan.expressions import NULL, Call, Cast, Column, Expression, Text
from dctv.plan.node import Node, Query
from dctv.plan.nodes import Plan, Relation, Scan, column_names, unique_names
from dctv.plan.queries import Compound, Derived, Item, Select, TableName
from dctv.plan.walk import mapped, replaced, walk
from dctv.record import field, record, replace
from dctv.rewrite.graph import inputs, put_together, readers_first
from dctv.rewrite.select_lists import may_aggregate, reads_all, result_names, with_source
from dctv.rewrite.select_shapes import all_rows, source_of
from dctv.types.schema import ColumnType

_TYPES = {"json_extract_string": "VARCHAR", "json_extract": "JSON"}
"""The functions that extract a member of an object, and their types."""
_KEY = pattern(r"(?:\$\.)?([A-Za-z_][A-Za-z_0-9]*)")
"""Paths to a member of the object itself; others may need quotes, or lead further down."""
_SCALARS = frozenset(
    ("VARCHAR", "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
)
"""Types whose values are the same text in JSON as outside."""
_EMPTY = Cast(Text("{}"), "JSON")

_Leaves = Mapping[str, Plan]


def read_members(plan: Plan, _: Mapping[str, SpanOperator]) -> Plan:
    """Read single members of JSON objects from columns."""
    order = readers_first(plan)
    if not any(map(_extracts, order)):
        return plan
    reading = _Reading({id(plan)})
    for node in order:
        query = node.query if isinstance(node, Relation) else None
        if query is None or reads_all(query):
            reading.whole.update(map(id, inputs(node)))
    # The tables of a union that takes the place of a scan are not among the plans of the order.
    return put_together(order, {id(node): reading.changed(node) for node in order})


@record
class _Member:
    """A member of the object in a column."""

    column: str
    function: str
    key: str

    def of(self, value: Expression) -> Call:
        """Extract it."""
        return call(self.function, value, Text(self.key))

    def free_name(self, taken: list[str]) -> str:
        """Return a name for a column of it."""
        arrow = "->>" if self.function == "json_extract_string" else "->"
        return unique_names([*taken, f"{self.column}{arrow}{self.key}"])[-1]


@record(frozen=False)
class _Reading:
    whole: set[int]
    """The identities of plans of which all columns are read."""
    asked: dict[int, dict[_Member, str]] = field(default_factory=dict)
    """The members that readers of a plan want as columns, by its identity, with the names of these."""
    known: dict[tuple[int, str], bool] = field(default_factory=dict)

    def changed(self, plan: Plan) -> Plan:
        """Return a plan with the columns that its readers want, which reads members of its inputs as columns."""
        asked = self.asked.get(id(plan), {})
        relation = _rows(plan) if asked else plan
        if not isinstance(relation, Relation):
            return plan
        leaves, query, schema = dict(relation.leaves), relation.query, relation.schema
        names = column_names(relation)
        for member, name in asked.items():
            query = self._adding(query, names.index(member.column), member, name, leaves)
            schema = replace(schema, columns=(*schema.columns, ColumnType(name, _TYPES[member.function])))
        if _extracts(relation):
            read = self._read(query, leaves)
            assert isinstance(read, Query)
            query = read
        return relation if query is relation.query else replace(relation, query=query, schema=schema)

    def _read(self, node: Node, leaves: _Leaves) -> Node:
        """Return a query that reads members as columns wherever it extracts them."""
        made = mapped(node, lambda part: self._read(part, leaves))
        return self._select(made, leaves) if isinstance(made, Select) else made

    def _select(self, select: Select, leaves: _Leaves) -> Select:
        wider = select
        values: dict[tuple[Column, _Member], Expression | None] = {}

        def change(node: Node) -> Node | None:
            nonlocal wider
            if isinstance(node, Query):
                return node
            found = _extracted(node)
            # Without a table, the name may be that of an item of the list.
            if found is None or found[0].table is None:
                return None
            if found not in values:
                wider, values[found] = self._column(wider, *found, leaves)
            return values[found]

        made = mapped(select, lambda part: replaced(part, change))
        # Its sources may have become wider meanwhile.
        joins = tuple(replace(own, source=new.source) for own, new in zip(made.joins, wider.joins, strict=True))
        return made if wider is select else replace(made, source=wider.source, joins=joins)

    def _column(
        self, select: Select, column: Column, member: _Member, leaves: _Leaves
    ) -> tuple[Select, Expression | None]:
        """Return a select that has a member of a source's column as a column, and this; None if it is not better."""
        source = source_of(select, column)
        qualifier = None if source is None else source.called or None
        match source:
            case TableName(name) if name in leaves and self._is_better(leaves[name], column.name):
                asked = self.asked.setdefault(id(leaves[name]), {})
                if member not in asked:
                    asked[member] = member.free_name([*column_names(leaves[name]), *asked.values()])
                return select, Column(asked[member], qualifier)
            case Derived(query) if (place := self._widened(select, query, column.name, leaves)) is not None:
                name = member.free_name(result_names(query) or [])
                inner = replace(source, query=self._adding(query, place, member, name, leaves))
                (number,) = (n for n, one in enumerate(select.sources) if one is source)
                return with_source(select, number, inner), Column(name, qualifier)
            case _:
                return select, None

    def _widened(self, select: Select, query: Query, column: str, leaves: _Leaves) -> int | None:
        """Return the place of a column of a subquery that can give members of it, too; None if it does not."""
        place = None if any(item.is_star for item in select.items) else _place(query, column)
        return place if place is not None and self._found(query, place, leaves) else None

    def _is_better(self, plan: Plan, column: str) -> bool:
        """Whether a plan can give members of a column, some of them from columns of its own."""
        key = (id(plan), column)
        if key not in self.known:
            names = column_names(plan)
            rows = _rows(plan) if id(plan) not in self.whole and column in names else None
            found = rows is not None and self._found(rows.query, names.index(column), dict(rows.leaves))
            self.known[key] = bool(found)
        return self.known[key]

    def _found(self, query: Query, place: int, leaves: _Leaves) -> bool | None:
        """Whether members of a column come from other columns; None if the query cannot have more columns."""
        if isinstance(query, Compound):
            found = [self._found(part, place, leaves) for part in query.parts] if all_rows(query) else [None]
            return None if None in found else any(found)
        assert isinstance(query, Select)
        if not _gives_each_row(query):
            return None
        value = _uncast(query.items[place].value)
        source = source_of(query, value) if isinstance(value, Column) else None
        match source, value:
            case TableName(name), Column(column) if name in leaves:
                return self._is_better(leaves[name], column)
            case Derived(inner), Column(column) if (below := _place(inner, column)) is not None:
                return bool(self._found(inner, below, leaves))
            case _:
                return _object(value) is not None

    def _adding(self, query: Query, place: int, member: _Member, name: str, leaves: _Leaves) -> Query:
        """Return a query with one more column: a member of another one."""
        if isinstance(query, Compound):
            parts = (self._adding(part, place, member, name, leaves) for part in query.parts)
            return replace(query, parts=tuple(parts))
        assert isinstance(query, Select)
        value, below = query.items[place].value, None
        column = _uncast(value)
        if isinstance(column, Column):
            query, below = self._column(query, column, replace(member, column=column.name), leaves)
        source = query.source
        types = _types(leaves[source.name]) if isinstance(source, TableName) and source.name in leaves else {}
        return adding(query, Item(below if below is not None else _member(value, member, types), name))


def _rows(plan: Plan) -> Relation | None:
    """Return the relation that gives the rows of a plan; None if there is none."""
    match plan:
        case Relation():
            return plan
        case Scan(union=union) if union is not None:
            return union()
        case _:
            return None


def _extracts(plan: Plan) -> bool:
    """Whether a plan's own query extracts a member of an object."""
    return isinstance(plan, Relation) and plan.query.once(_has_extracts)


def _has_extracts(query: Query) -> bool:
    return any(_extracted(node) is not None for node in walk(query))


def _extracted(node: Node) -> tuple[Column, _Member] | None:
    """Return the column and the member of it that an expression extracts."""
    match node:
        case Call(function, (value, Text(path)), False) if function in _TYPES:
            column, key = _uncast(value), _KEY.fullmatch(path)
            if isinstance(column, Column) and key is not None:
                return column, _Member(column.name, function, key[1])
            return None
        case _:
            return None


def _uncast(value: Expression) -> Expression:
    """Return a value without casts between JSON and text, which change no object."""
    match value:
        case Cast(inner, "JSON", False) | Cast(inner, "VARCHAR"):
            return _uncast(inner)
        case _:
            return value


def _object(value: Expression) -> tuple[Expression, Mapping[str, Expression]] | None:
    """Return the members of an object that an expression makes, and the object that they are added to."""
    match _uncast(value):
        case Call("json_merge_patch", (start, Call("json_object", members))):
            names = [one.value for one in members[::2] if isinstance(one, Text)]
            known = dict(zip(names, members[1::2], strict=False))
            return (start, known) if len(known) * 2 == len(members) else None
        case _:
            return None


def _member(value: Expression, member: _Member, types: Mapping[str, str]) -> Expression:
    """Return a member of a value, from a column where that is the same."""
    made = _object(value)
    if made is None:
        return member.of(value)
    start, members = made
    own = members.get(member.key)
    if own is None:
        return Cast(NULL, _TYPES[member.function]) if start == _EMPTY else member.of(value)
    kind = types.get(own.name) if isinstance(own, Column) else None
    if kind in _SCALARS and member.function == "json_extract_string":
        return Cast(own, "VARCHAR")
    if kind not in _SCALARS and start != _EMPTY:
        # An object is merged with the one in its place.
        return member.of(value)
    alone = call("json_merge_patch", _EMPTY, call("json_object", Text(member.key), own))
    return member.of(Cast(alone, "JSON"))


def _gives_each_row(select: Select) -> bool:
    """Whether a select gives its rows one by one, whatever else is in its list."""
    if select.distinct or select.group is not None or select.having is not None:
        return False
    return not may_aggregate(select) and not any(item.is_star for item in select.items)


def _place(query: Query, name: str) -> int | None:
    """Return the place of a query's column."""
    names = result_names(query) or []
    return names.index(name) if names.count(name) == 1 else None


def _types(plan: Plan) -> Mapping[str, str]:
    """Return the types of a plan's columns."""
    return dict(zip(column_names(plan), (one.type for one in plan.schema.columns), strict=True))
