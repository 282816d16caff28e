"""Derive the needed rows of each leaf that a query reads from the needed rows of its result.

A need is a predicate: rows for which it is not true make no difference. It goes down from a select's result to its
sources where each row (or group) of the result is made of rows that agree in the columns of the need, and is ANDed
with the select's own WHERE, ON and HAVING. The conditions themselves stay where they are.

Sound, step by step:

- WHERE comes before everything else in a select, so its conditions on one source are needed of its rows; of the
  sources of outer joins only those on the preserved one, and of ON only those on the other one.
- A need of the result stops at LIMIT, QUALIFY, samples, windows, and at selects that check rows or count warnings. Of
  groups it goes through their keys. DISTINCT, ORDER BY and compounds do not change rows.
- A window that only numbers rows may be passed if nothing but an ORDER BY reads the number: dropped rows leave
  the others in their order.
- Columns must be handed on as they are, by name or by casts that keep every value. A literal in place of a column
  decides at once: branches of a union whose rows cannot be needed are left out, if those that stay have their types.
- A leaf with several readers has the OR of their needs. A table that is named anywhere else is needed whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from dctv.plan import predicate as p
from dctv.plan.build import STAR
from dctv.plan.expressions import Cast, Column, Exists, Expression, InQuery, Number, Subquery, Window
from dctv.plan.node import Query
from dctv.plan.queries import CommonTable, Compound, Derived, FromItem, Select, TableName
from dctv.plan.walk import nested, own, walk
from dctv.record import field, record
from dctv.rewrite.literals import constant_of, is_lossless
from dctv.rewrite.scan_predicates import predicate_of
from dctv.rewrite.select_lists import has_effect, is_effect, result_names
from dctv.rewrite.select_shapes import (
    all_rows,
    bare,
    group_keys,
    nested_queries,
    numbers_rows,
    preserved_sources,
    read_names,
    source_of,
)

_NESTING = (Exists, InQuery, Subquery)
_MARK = "\0"
"""Stands between a source's name and a column's in the predicates of a select."""
Used = Collection[str] | None
"""The result columns that are read other than to sort; None for all."""


@record(frozen=False)
class Needs:
    """The needs of a query by leaf; a part of the query may occur in several places of it."""

    leaves: Mapping[str, Mapping[str, str]]
    """Types of columns by the leaf's name."""
    found: dict[str, list[p.Predicate]] = field(default_factory=dict)
    """By the leaf's name, one need for each place where it is read."""
    dropped: set[tuple[int, int]] = field(default_factory=set)
    """Branches of unions that give no needed row: the identity of the union, which occurs in one place only,
    and the branch's place in it."""
    gone: Counter[str] = field(default_factory=Counter)
    """The number of references to each table in these."""
    places: Counter[int] = field(default_factory=Counter)
    """The number of occurrences of each compound, by identity."""
    unclear: set[str] = field(default_factory=set)
    """Names of steps that something else has, too."""
    steps: dict[str, CommonTable] = field(default_factory=dict)
    of_steps: dict[str, list[p.Predicate]] = field(default_factory=dict)
    types: dict[tuple[int, str], str | None] = field(default_factory=dict)
    """Types of columns, by the identity of the source or query."""
    windows: dict[int, int | None] = field(default_factory=dict)
    """Numbers of windows of queries, by identity."""
    nests: bool = False
    """Whether there are queries in expressions."""

    def of_leaves(self, query: Query, need: p.Predicate) -> dict[str, p.Predicate]:
        """Return the need of each leaf."""
        named: Counter[str] = Counter()
        steps = Counter(list(self.leaves))
        for node in walk(query):
            if isinstance(node, TableName):
                named[node.name] += 1
            elif isinstance(node, Compound):
                self.places[id(node)] += 1
            elif isinstance(node, CommonTable):
                steps[node.name] += 1
            elif isinstance(node, _NESTING):
                self.nests = True
        self.unclear = {name for name, count in steps.items() if count > 1}
        self.visit(query, need, None)
        whole = {name for name in self.leaves if len(self.found.get(name, ())) + self.gone[name] != named[name]}
        return {name: p.Undecidable() if name in whole else p.either(self.found.get(name, ())) for name in self.leaves}

    def visit(self, query: Query, need: p.Predicate, used: Used) -> None:
        """Follow a need into a query, then into the steps that it reads, the last of them first."""
        assert isinstance(query, Select | Compound)
        if query.recursive or any(step.name in self.steps for step in query.steps):
            return
        self.steps.update({step.name: step for step in query.steps})
        if isinstance(query, Select):
            self._select(query, need, used)
        else:
            self._compound(query, need, used)
        named = _tables(query) if query.steps else Counter()
        for step in reversed(query.steps):
            reads = self.of_steps.get(step.name, [])
            all_named = len(reads) == named[step.name] and not step.columns
            self.visit(step.query, p.either(reads) if all_named else p.ALWAYS, None)

    def _compound(self, compound: Compound, need: p.Predicate, used: Used) -> None:
        """Visit the branches of a compound."""
        names = result_names(compound)
        if compound.limit is not None or compound.offset is not None or names is None:
            need = p.ALWAYS
        need = p.carried(need, lambda name: name if self.type_of(compound, name) is not None else None)
        if not compound.all or any(not isinstance(term.operand, Column) for term in compound.order_by):
            used = None
        branches = []
        for part in compound.parts:
            theirs = result_names(part)
            same = names is not None and theirs is not None and len(names) == len(theirs)
            places = dict(zip(names or (), theirs or (), strict=True)) if same else None
            branches.append((part, *_of_branch(need, used, places)))
        gone = {place for place, branch in enumerate(branches) if self._inner(*branch) == p.NEVER}
        dropped = self._droppable(compound, gone)
        for place, branch in enumerate(branches):
            if place in dropped:
                self.dropped.add((id(compound), place))
                self.gone.update(_tables(branch[0]))
            else:
                self.visit(*branch)

    def _inner(self, branch: Query, need: p.Predicate, used: Used) -> p.Predicate:
        """Return the need of a branch's sources, as far as literals in its list decide."""
        return self._own_need(branch, need, used) if isinstance(branch, Select) else p.Undecidable()

    def _droppable(self, compound: Compound, gone: Collection[int]) -> Collection[int]:
        """Return the branches whose absence does not change the names and types of the compound."""
        if not gone or not all_rows(compound) or self.places[id(compound)] != 1:
            return ()
        parts = compound.parts
        first = next((place for place in range(len(parts)) if place not in gone), 0)
        kinds = self._kinds(parts[first])
        if kinds is None or result_names(parts[first]) != result_names(parts[0]):
            return ()
        return {place for place in gone if place != first and self._kinds(parts[place]) == kinds}

    def _kinds(self, branch: Query) -> list[str] | None:
        """Return the types of a select's columns in a form that can be compared."""
        if not isinstance(branch, Select):
            return None
        found: list[str] = []
        for item in branch.items:
            kind = self._kind(branch, item.value)
            if kind is None:
                match item.value:
                    case Window() if numbers_rows(item.value):
                        kind = "number of a row"
                    case Number(text) if text.isdigit() and len(text) < 10:
                        kind = "small number"
                    case _:
                        return None
            found.append(kind)
        return found

    def _select(self, select: Select, need: p.Predicate, used: Used) -> None:
        """Visit the sources of a select."""
        parts = [self._own_need(select, need, used), *self._conditions(select)]
        needs: dict[str, list[p.Predicate]] = {}
        for owner, part in self._on(select):
            needs.setdefault(owner, []).append(part)
        preserved = {one.called for one in preserved_sources(select)}
        for owner, part in _by_owner(parts):
            if owner in preserved:
                needs.setdefault(owner, []).append(part)
        never = p.NEVER in parts
        read = read_names(select) if any(isinstance(one, Derived) for one in select.sources) else None
        for source in select.sources:
            whole = p.NEVER if never else p.both(needs.get(source.called, []))
            self._source(source, p.carried(whole, lambda name: name.partition(_MARK)[2]), read)
        for one in nested_queries(select) if self.nests else ():
            self.visit(one, p.ALWAYS, None)

    def _source(self, source: FromItem, need: p.Predicate, read: Used) -> None:
        if source.columns:
            need, read = p.ALWAYS, None
        match source:
            case TableName(name):
                reads = self.of_steps if name in self.steps else self.found
                reads.setdefault(name, []).append(need)
            case Derived(query):
                self.visit(query, need, read)
            case _:
                return

    def _own_need(self, select: Select, need: p.Predicate, used: Used) -> p.Predicate:
        """Translate the need of a select's result to the columns of its sources."""
        stops = (select.limit, select.offset, select.qualify)
        if need == p.ALWAYS or any(one is not None for one in stops):
            return p.ALWAYS
        inner = p.carried(need, lambda name: self._found(select, name))
        if inner == p.ALWAYS or isinstance(inner, p.Undecidable):
            return p.ALWAYS
        return inner if self._gives_row_by_row(select, used) else p.ALWAYS

    def _gives_row_by_row(self, select: Select, used: Used) -> bool:
        """Whether a select does nothing but give rows or groups, maybe with a number that only sorts."""
        numbers = (item.name for item in select.items if numbers_rows(item.value))
        passed = sum(used is not None and name is not None and name not in used for name in numbers)
        return self._windows(select) == passed

    def _windows(self, query: Query) -> int | None:
        """Count the windows of a query itself; None if it, or one within, checks or multiplies rows."""
        if id(query) not in self.windows:
            nodes = list(own(query))
            inner = any(self._windows(one) is None for one in nested(query))
            bad = inner or any(map(is_effect, nodes))
            self.windows[id(query)] = None if bad else sum(isinstance(node, Window) for node in nodes)
        return self.windows[id(query)]

    def _found(self, select: Select, name: str) -> str | p.Constant | None:
        """Resolve a result column to a column of a source, or a literal."""
        value = self._item(select, name)
        if value is None:
            return None
        column = self.name_of(select, value)
        if column is not None:
            keys = group_keys(select)
            return column[0] if keys is None or bare(value) in keys else None
        return constant_of(value)

    def _conditions(self, select: Select) -> Iterator[p.Predicate]:
        """Yield the conditions of a select's own clauses on its sources."""
        where, having, keys = select.where, select.having, group_keys(select)
        if where is not None and not has_effect(where):
            yield p.both([predicate_of(where, lambda one: self.name_of(select, one))])
        if having is not None and keys and self._windows(select) is not None:
            yield p.both([predicate_of(having, lambda one: self.name_of(select, one) if one in keys else None)])

    def _on(self, select: Select) -> Iterator[tuple[str, p.Predicate]]:
        """Yield the conditions of ON by source: on the joined one, and on others only if they are preserved."""
        if any(join.kind in ("RIGHT", "FULL") for join in select.joins):
            return
        preserved = {one.called for one in preserved_sources(select)}
        for join in select.joins:
            if join.on is None or join.asof:
                continue
            whole = p.both([predicate_of(join.on, lambda one: self.name_of(select, one))])
            for owner, part in _by_owner([whole]):
                if owner == join.source.called or (join.kind == "INNER" and owner in preserved):
                    yield owner, part

    def name_of(self, select: Select, value: Expression) -> tuple[str, str] | None:
        """Return the name of a source's column with its type, seen through casts that keep its values."""
        if isinstance(value, Cast):
            inner = self.name_of(select, value.operand)
            return (inner[0], value.type) if inner is not None and is_lossless(inner[1], value.type) else None
        source = source_of(select, value) if isinstance(value, Column) else None
        if source is None or not isinstance(value, Column):
            return None
        kind = self.type_of(source, value.name)
        return None if kind is None else (f"{source.called}{_MARK}{value.name}", kind)

    def type_of(self, source: FromItem | Query, name: str) -> str | None:
        """Return the type of a column, if it is passed through from a leaf or is a cast."""
        key = (id(source), name)
        if key not in self.types:
            self.types[key] = None
            self.types[key] = self._type_of(source, name)
        return self.types[key]

    def _type_of(self, source: FromItem | Query, name: str) -> str | None:
        match source:
            case TableName(table) if table not in self.unclear:
                step, leaf = self.steps.get(table), self.leaves.get(table)
                if step is not None:
                    return None if step.columns else self.type_of(step.query, name)
                return None if leaf is None else leaf.get(name)
            case Derived(query):
                return self.type_of(query, name)
            case Compound(_, parts):
                names = result_names(source) or []
                kinds = {self._type_at(part, names.index(name)) for part in parts} if names.count(name) == 1 else set()
                return kinds.pop() if len(kinds) == 1 else None
            case Select():
                value = self._item(source, name)
                return None if value is None else self._kind(source, value)
            case _:
                return None

    def _type_at(self, branch: Query, place: int) -> str | None:
        names = result_names(branch)
        return None if names is None or place >= len(names) else self.type_of(branch, names[place])

    def _kind(self, select: Select, value: Expression) -> str | None:
        if isinstance(value, Cast):
            return value.type
        source = source_of(select, value) if isinstance(value, Column) else None
        return self.type_of(source, value.name) if source is not None and isinstance(value, Column) else None

    def _item(self, select: Select, name: str) -> Expression | None:
        """Return the expression of a result column."""
        if select.items == (STAR,):
            return Column(name)
        found = [item.value for item in select.items if item.output == name]
        return found[0] if len(found) == 1 else None


def _by_owner(parts: Sequence[p.Predicate]) -> Iterator[tuple[str, p.Predicate]]:
    """Yield the conjuncts that are about one source, with its name."""
    for part in parts:
        for one in part.parts if isinstance(part, p.And) else (part,):
            owners = {name.partition(_MARK)[0] for name in p.columns_of(one)}
            if len(owners) == 1:
                yield owners.pop(), one


def _of_branch(need: p.Predicate, used: Used, names: Mapping[str, str] | None) -> tuple[p.Predicate, Used]:
    """Translate the need and used columns of a compound to those of a branch, by the names in both."""
    if names is None:
        return p.ALWAYS, None
    return p.carried(need, names.get), None if used is None else {names[name] for name in used if name in names}


def _tables(query: Query) -> Counter[str]:
    return Counter(node.name for node in walk(query) if isinstance(node, TableName))
