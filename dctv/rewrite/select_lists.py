"""Reduce queries to the columns that their readers want.

A column stays where it may be more than a value: where it checks rows (`error`), multiplies them (`unnest`) or counts
warnings. Names are compared without regard to case and, where a name has no table in front, counted for every table:
too many columns may stay, never too few.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from dctv.contracts.engine import EFFECTS, VOLATILE
from dctv.plan.expressions import Call, Column, Number, Star, Text
from dctv.plan.node import Node, Query
from dctv.plan.queries import Compound, Derived, FromItem, GroupingSets, Item, Select, TableName
from dctv.plan.walk import Places, places_in, walk
from dctv.record import field, record, replace
from dctv.rewrite.select_shapes import all_rows, clauses, conditions_of_joins


def has_effect(*nodes: Node | None) -> bool:
    """Whether expressions do more than give values of their rows."""
    return any(is_effect(node) for node in walk(*nodes))


def is_effect(node: Node) -> bool:
    """Whether a call checks, counts or multiplies rows."""
    return isinstance(node, Call) and node.function.lower() in EFFECTS


def is_volatile(*nodes: Node | None) -> bool:
    """Whether expressions may have another value each time."""
    return any(isinstance(node, Call) and node.function.lower() in VOLATILE for node in walk(*nodes))


def may_aggregate(select: Select) -> bool:
    """Whether a select without groups may be a single row of aggregates.

    Aggregates are calls, and no column occurs outside of calls beside them.
    """
    return any(isinstance(node, Call) for node in walk(*select.items)) and not any(map(is_of_row, select.items))


def result_names(query: Query) -> list[str] | None:
    """Return the names of a query's columns, or None where they are not written in it."""
    if isinstance(query, Compound):
        return result_names(query.parts[0])
    if not isinstance(query, Select) or any(item.is_star for item in query.items):
        return None
    return [item.output for item in query.items]


def reads_all(query: Query) -> bool:
    """Whether a query may read all columns of a leaf, whatever they are."""
    return _named_in(query).reads_all


def named_columns(query: Query, leaves: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the columns of each leaf that a query may read, from one walk: a union may have thousands of leaves."""
    named = _named_in(query)
    read = []
    for leaf, columns in leaves.items():
        names = named.columns_of(named.tables.get(leaf, ()))
        everything = named.reads_all or leaf in named.renamed
        read.append([name for name in columns if everything or name.lower() in names])
    return read


@record(frozen=False)
class _Named:
    """The names in parts of a query, in lower case."""

    columns: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """By qualifier; the empty string for unqualified ones."""
    tables: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The aliases of each table."""
    renamed: set[str] = field(default_factory=set)
    """Tables with renamed columns."""
    stars: int = 0
    """Stars but for those that count rows."""

    @staticmethod
    def within(*nodes: Node | None) -> _Named:
        """Collect it from one walk."""
        named = _Named()
        for node in walk(*nodes):
            match node:
                case Column(name, table):
                    named.columns[(table or "").lower()].add(name.lower())
                case Star():
                    named.stars += 1
                case Call("count", (Star(None),), False):
                    named.stars -= 1
                case TableName(name):
                    named.tables[name].add(node.called.lower())
                    if node.columns:
                        named.renamed.add(name)
                case _:
                    pass
        return named

    @property
    def reads_all(self) -> bool:
        """Whether any column may be read."""
        return self.stars > 0

    def columns_of(self, called: Collection[str]) -> set[str]:
        """Return the columns that may belong to a source, given its possible names."""
        return set().union(*(self.columns.get(one, ()) for one in ("", *called)))


@lru_cache(maxsize=2000)
def _named_in(query: Query) -> _Named:
    return _Named.within(query)


def narrowed(query: Query, needed: Collection[str], leaves: Mapping[str, Sequence[str]]) -> Query:
    """Return a query without the result columns that are not wanted, where they can be left out."""
    columns = tuple((name, tuple(own)) for name, own in leaves.items())
    return _known(query, places_in(query), frozenset(name.lower() for name in needed), columns)


@lru_cache(maxsize=2000)
def _known(query: Query, _: Places, needed: frozenset[str], leaves: tuple[tuple[str, tuple[str, ...]], ...]) -> Query:
    return _narrowed(query, needed, dict(leaves))


def _narrowed(query: Query, needed: Collection[str], leaves: Mapping[str, Sequence[str]]) -> Query:
    if isinstance(query, Compound):
        return _narrowed_union(query, needed, leaves) if all_rows(query) else query
    if not isinstance(query, Select):
        return query
    items = _items(query, leaves)
    if items is not None and _may_drop(query):
        kept = _kept(query, items, needed)
        if len(kept) < len(items):
            query = replace(query, items=tuple(kept))
    for place, source in enumerate(query.sources):
        if isinstance(source, Derived) and source.alias and not source.columns and result_names(source.query):
            named = _Named.within(*_others(query, place))
            if not named.reads_all:
                inner = _narrowed(source.query, named.columns_of((source.alias.lower(),)), leaves)
                if inner is not source.query:
                    query = with_source(query, place, replace(source, query=inner))
    return query


def _narrowed_union(union: Compound, needed: Collection[str], leaves: Mapping[str, Sequence[str]]) -> Query:
    """Return a union without the columns that no part needs."""
    kept = {place for place, name in enumerate(result_names(union) or ()) if name.lower() in needed} or {0}
    for part in union.parts:
        places = part.once(_needed_places)
        if places is None:
            return union
        kept.update(places)
    parts = []
    for part in union.parts:
        assert isinstance(part, Select)
        items = tuple(item for place, item in enumerate(part.items) if place in kept)
        narrower = part if len(items) == len(part.items) else replace(part, items=items)
        parts.append(_narrowed(narrower, {item.output.lower() for item in items}, leaves))
    same = all(new is old for new, old in zip(parts, union.parts, strict=True))
    return union if same else replace(union, parts=tuple(parts))


def _needed_places(query: Query) -> Collection[int] | None:
    """Return the places in a select's list that stay even if they are not read; None if the list stays as it is."""
    if not isinstance(query, Select) or query.group is not None or not _may_drop(query):
        return None
    # Without a column outside of calls this may be the one row of aggregates.
    if any(item.is_star for item in query.items) or not any(map(is_of_row, query.items)):
        return None
    meant = _meant(query, query.items)
    return {n for n, item in enumerate(query.items) if item.output.lower() in meant or has_effect(item)}


def _others(select: Select, place: int) -> list[Node | None]:
    """Return all parts of a select except one of its sources."""
    sources = [one for number, one in enumerate(select.sources) if number != place]
    return [*select.items, *clauses(select), *conditions_of_joins(select), *select.steps, *sources]


def with_source(select: Select, place: int, source: FromItem) -> Select:
    """Return a select that reads another source in place of one."""
    if place == 0:
        return replace(select, source=source)
    joins = list(select.joins)
    joins[place - 1] = replace(joins[place - 1], source=source)
    return replace(select, joins=tuple(joins))


def _items(select: Select, leaves: Mapping[str, Sequence[str]]) -> Sequence[Item] | None:
    """Return the select list, with a star written out; None where it cannot be."""
    names: Sequence[str] | None = None
    match select.items, select.sources:
        case ((Item(Star(None)),), (TableName(leaf, _, ()),)):
            names = leaves.get(leaf)
        case ((Item(Star(None)),), (Derived(query, _, ()),)):
            names = result_names(query)
        case _:
            return None if any(item.is_star for item in select.items) else select.items
    return None if names is None else [Item(Column(name), name) for name in names]


def _may_drop(select: Select) -> bool:
    """Whether the rows of a select do not depend on its list."""
    group = select.group
    if select.distinct or (group is None and select.having is not None) or (group is not None and group.all):
        return False
    terms = [term.operand for term in select.order_by]
    for key in () if group is None else group.keys:
        terms += [one for of_set in key.sets for one in of_set] if isinstance(key, GroupingSets) else [key]
    return not any(isinstance(term, Number | Text) for term in terms)


def _kept(select: Select, items: Sequence[Item], needed: Collection[str]) -> Sequence[Item]:
    meant = _meant(select, items).union(needed)
    kept = [item for item in items if item.output.lower() in meant or has_effect(item)] or items[:1]
    # Without a column outside of functions this may be the one row of aggregates.
    return kept if select.group is not None or any(map(is_of_row, kept)) else items


def is_of_row(item: Item) -> bool:
    """Whether an item is only valid in a select that gives its rows one by one."""
    nodes = list(walk(item))
    return any(isinstance(node, Column) for node in nodes) and not any(isinstance(node, Call) for node in nodes)


def _meant(select: Select, items: Sequence[Item]) -> set[str]:
    """Return the names by which clauses or other items may mean a result column."""
    found = _Named.within(*clauses(select), *select.steps).columns_of(())
    for item in items:
        if isinstance(item.value, Column) and item.value.table is not None:
            continue
        found |= _Named.within(item).columns_of(()) - {item.output.lower()}
    return found
