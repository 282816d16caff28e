"""A query and what is needed of its rows -> what is needed of the rows of each leaf that it reads.

A need is a predicate: rows for which it is not true make no difference. It goes down from a select's result to its
sources where each row (or group) of the result is made of rows that agree in what the need is about, and it is joined
by the select's own WHERE, ON and HAVING. The conditions themselves stay where they are.

Sound, step by step:

- WHERE comes before everything else that a select does, so what it says of one source is needed of its rows; of the
  sources of outer joins only the preserved one, and of ON only what is about the other one.
- A need of the result stops at LIMIT, QUALIFY, samples, windows, and at selects that check rows or count warnings. Of
  groups it goes through their keys. DISTINCT, ORDER BY and compounds leave rows what they are.
- A window that only numbers rows may be passed if nothing but an ORDER BY reads the number: what is left out leaves
  the others in their order.
- Columns must be handed on as they are, by name or by casts that keep every value. A literal in place of a column
  decides at once: branches of a union whose rows cannot be needed are left out, if those that stay have their types.
- What a leaf's rows are needed for more than once, they are needed for if one of the needs is true. A table that is
  named anywhere else is needed whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from sqlglot import exp

from dctv.plan.nodes import Plan, column_names
from dctv.plan.predicate import (
    ALWAYS,
    NEVER,
    And,
    Anything,
    Constant,
    Predicate,
    both,
    carried,
    columns_of,
    either,
)
from dctv.plan.shape import nodes_of
from dctv.record import field, record
from dctv.rewrite.literals import constant_of, keeps, type_text
from dctv.rewrite.scan_predicates import predicate_of
from dctv.rewrite.select_lists import has_effect, is_effect
from dctv.rewrite.select_shapes import (
    all_rows,
    bare,
    branches,
    group_keys,
    nested_queries,
    numbers_rows,
    picks_rows,
    preserved_sources,
    read_names,
    source_of,
    sources,
)

_STOPS = ("limit", "offset", "qualify", "sample", "windows", "laterals")
_MARK = "\0"
"""Stands between a source's name and a column's in the predicates of a select."""


@record(frozen=False)
class Needs:
    """What a query needs of its leaves."""

    leaves: Mapping[str, Plan]
    found: dict[str, list[Predicate]] = field(default_factory=dict)
    """By the leaf's name, one need for each place where it is read."""
    dropped: dict[int, exp.Expr] = field(default_factory=dict)
    """Branches of unions that give no row that is needed, by identity."""
    steps: dict[str, exp.CTE] = field(default_factory=dict)
    of_steps: dict[str, list[Predicate]] = field(default_factory=dict)
    types: dict[tuple[int, str], str | None] = field(default_factory=dict)

    def of_leaves(self, query: exp.Query, need: Predicate) -> dict[str, Predicate]:
        """Return what is needed of each leaf."""
        self.visit(query, need, None)
        named = _tables(query)
        gone = Counter(name for one in self.dropped.values() for name in _tables(one).elements())
        needs = {}
        for name in self.leaves:
            found = self.found.get(name, [])
            whole = len(found) + gone[name] != named[name]
            needs[name] = Anything() if whole else either(found)
        return needs

    def visit(self, query: exp.Expr, need: Predicate, used: Collection[str] | None) -> None:
        """Follow a need into a query; `used` are the result columns that are read other than to sort, None for all."""
        match query:
            case exp.Select():
                self._with_steps(query, need, used)
            case exp.SetOperation():
                self._with_steps(query, need, used)
            case exp.Subquery():
                plain = not any(v for k, v in query.args.items() if k not in ("this", "alias"))
                self.visit(query.this, need if plain else ALWAYS, used if plain else None)
            case _:
                return

    def _with_steps(self, query: exp.Query, need: Predicate, used: Collection[str] | None) -> None:
        """Visit a query, then the steps that it reads, the last of them first."""
        steps = query.args.get("with_")
        if steps is not None and (steps.args.get("recursive") or any(c.alias in self.steps for c in steps.expressions)):
            return
        own = {} if steps is None else {c.alias: c for c in steps.expressions}
        self.steps.update(own)
        if isinstance(query, exp.Select):
            self._select(query, need, used)
        else:
            self._compound(query, need, used)
        for name, step in reversed(own.items()):
            renamed = bool(step.args["alias"].columns)
            named = sum(isinstance(t, exp.Table) and t.name == name for t in nodes_of(query))
            reads = self.of_steps.get(name, [])
            known = len(reads) == named and not renamed
            self.visit(step.this, either(reads) if known else ALWAYS, None)

    def _compound(self, tree: exp.Query, need: Predicate, used: Collection[str] | None) -> None:
        """Visit the branches of a chain of compounds."""
        parts, unions = branches(tree)
        stops = any(node.args.get(k) for node in unions for k in ("limit", "offset", "by_name", "on", "side", "kind"))
        names = self._names(parts[0])
        if stops or names is None:
            need = ALWAYS
        need = carried(need, lambda name: name if self.type_of(tree, name) is not None else None)
        places = {name: place for place, name in enumerate(names or [])}
        gone = {id(part) for part in parts if self._inner(part, places, need, used) == NEVER}
        for part in self._droppable(unions, parts, gone):
            self.dropped[id(part)] = part
        for part in parts:
            if id(part) not in self.dropped:
                own = self._names(part)
                self.visit(part, _of_branch(need, places, own), _used_of_branch(used, places, own))

    def _inner(
        self, branch: exp.Expr, places: Mapping[str, int], need: Predicate, used: Collection[str] | None
    ) -> Predicate:
        """Return what is needed of a branch's sources, as far as literals in its list decide."""
        own = self._names(branch)
        if not isinstance(branch, exp.Select) or own is None:
            return Anything()
        return self._own_need(branch, _of_branch(need, places, own), _used_of_branch(used, places, own))

    def _droppable(self, unions: Sequence[exp.Expr], parts: Sequence[exp.Expr], gone: set[int]) -> list[exp.Expr]:
        """Return those of some branches whose absence leaves the names and types of the compound what they are."""
        if not gone or not all(all_rows(node) for node in unions):
            return []
        first = next((part for part in parts if id(part) not in gone), parts[0])
        kinds = self._kinds(first)
        if kinds is None or self._names(first) != self._names(parts[0]):
            return []
        return [part for part in parts if id(part) in gone and part is not first and self._kinds(part) == kinds]

    def _kinds(self, branch: exp.Expr) -> list[str] | None:
        """Return the types of a select's columns, each as plain as that two of them can be told to be the same."""
        if not isinstance(branch, exp.Select):
            return None
        found: list[str] = []
        for item in branch.expressions:
            value = item.unalias()
            kind = self._kind(branch, value)
            if kind is None:
                if numbers_rows(value):
                    kind = "number of a row"
                elif isinstance(value, exp.Literal) and str(value.this).isdigit() and len(str(value.this)) < 10:
                    kind = "small number"
                else:
                    return None
            found.append(kind)
        return found

    def _select(self, tree: exp.Select, need: Predicate, used: Collection[str] | None) -> None:
        """Visit the sources of a select."""
        parts = [self._own_need(tree, need, used), *self._conditions(tree)]
        needs: dict[str, list[Predicate]] = {}
        for owner, part in self._on(tree):
            needs.setdefault(owner, []).append(part)
        preserved = {one.alias_or_name for one in preserved_sources(tree)}
        for owner, part in _by_owner(parts):
            if owner in preserved:
                needs.setdefault(owner, []).append(part)
        never = NEVER in parts
        read = read_names(tree)
        for source in sources(tree):
            own = NEVER if never else both(needs.get(source.alias_or_name, []))
            self._source(source, carried(own, lambda name: name.partition(_MARK)[2]), read)
        for nested in nested_queries(tree):
            self.visit(nested, ALWAYS, None)

    def _source(self, source: exp.Expr, need: Predicate, read: Collection[str] | None) -> None:
        alias = source.args.get("alias")
        renamed = alias is not None and bool(alias.columns)
        if isinstance(source, exp.Table):
            plain = not any(v for k, v in source.args.items() if k not in ("this", "alias"))
            reads = self.of_steps if source.name in self.steps else self.found
            reads.setdefault(source.name, []).append(need if plain and not renamed else ALWAYS)
        else:
            self.visit(source, ALWAYS if renamed else need, None if renamed else read)

    def _own_need(self, tree: exp.Select, need: Predicate, used: Collection[str] | None) -> Predicate:
        """Return what is needed of a select's result as a predicate over the columns of its sources."""
        if need == ALWAYS or any(tree.args.get(stop) for stop in _STOPS) or picks_rows(tree):
            return ALWAYS
        inner = carried(need, lambda name: self._found(tree, name))
        if inner == ALWAYS or isinstance(inner, Anything):
            return ALWAYS
        return inner if self._gives_row_by_row(tree, used) else ALWAYS

    def _gives_row_by_row(self, tree: exp.Select, used: Collection[str] | None) -> bool:
        """Whether a select does nothing but give rows or groups, maybe with a number that only sorts."""
        for window in nodes_of(tree):
            if is_effect(window):
                return False
            if not isinstance(window, exp.Window) or window.find_ancestor(exp.Select) is not tree:
                continue
            item = window.parent
            if not isinstance(item, exp.Alias) or item.parent is not tree or not numbers_rows(window):
                return False
            if used is None or item.alias in used:
                return False
        return True

    def _found(self, tree: exp.Select, name: str) -> str | Constant | None:
        """Return what a result column is: a column of a source, or a literal."""
        value = self._item(tree, name)
        if value is None:
            return None
        known = self.name_of(tree, value)
        if known is not None:
            keys = group_keys(tree)
            return known[0] if keys is None or bare(value).sql() in keys else None
        return constant_of(value)

    def _conditions(self, tree: exp.Select) -> Iterator[Predicate]:
        """Yield what a select's own clauses say of its sources."""
        where, having = tree.args.get("where"), tree.args.get("having")
        if tree.args.get("sample") or tree.args.get("laterals"):
            return
        if where is not None and not has_effect(where):
            yield both([predicate_of(where.this, lambda c: self.name_of(tree, c))])
        keys = group_keys(tree)
        if having is not None and keys and not has_effect(tree):

            def key(one: exp.Expr) -> tuple[str, str] | None:
                return self.name_of(tree, one) if one.sql() in keys else None

            yield both([predicate_of(having.this, key)])

    def _on(self, tree: exp.Select) -> Iterator[tuple[str, Predicate]]:
        """Yield what the ON of joins says of sources: of the joined one, of others only if they are preserved."""
        joins: Sequence[exp.Join] = tree.args.get("joins") or ()
        if any(join.side not in ("", "LEFT") for join in joins) or tree.args.get("laterals"):
            return
        preserved = {one.alias_or_name for one in preserved_sources(tree)}
        for join in joins:
            test, own = join.args.get("on"), join.this.alias_or_name
            if test is None or join.method or join.kind not in ("", "INNER", "OUTER", "SEMI", "ANTI"):
                continue
            inner = join.side == "" and join.kind in ("", "INNER")
            whole = both([predicate_of(test, lambda c: self.name_of(tree, c))])
            for owner, part in _by_owner([whole]):
                if owner == own or (inner and owner in preserved):
                    yield owner, part

    def name_of(self, tree: exp.Select, value: exp.Expr) -> tuple[str, str] | None:
        """Return the name of a source's column with its type, seen through casts that keep its values."""
        value = value.unnest()
        if isinstance(value, exp.Cast):
            inner = self.name_of(tree, value.this)
            to = type_text(value)
            return (inner[0], to) if inner is not None and keeps(inner[1], to) else None
        if not isinstance(value, exp.Column):
            return None
        source = source_of(tree, value)
        kind = None if source is None else self.type_of(source, value.name)
        return None if source is None or kind is None else (f"{source.alias_or_name}{_MARK}{value.name}", kind)

    def type_of(self, source: exp.Expr, name: str) -> str | None:
        """Return the type of a source's column, if it is handed on from a leaf or a cast says it."""
        key = (id(source), name)
        if key not in self.types:
            self.types[key] = None
            self.types[key] = self._type_of(source, name)
        return self.types[key]

    def _type_of(self, source: exp.Expr, name: str) -> str | None:
        match source:
            case exp.Table() if source.name in self.steps:
                return self.type_of(self.steps[source.name].this, name)
            case exp.Table():
                leaf = None if source.args.get("db") else self.leaves.get(source.name)
                return None if leaf is None else _types(leaf).get(name)
            case exp.Subquery():
                return self.type_of(source.this, name)
            case exp.SetOperation():
                return self._common_type(source, name)
            case exp.Select():
                value = self._item(source, name)
                return None if value is None else self._kind(source, value)
            case _:
                return None

    def _common_type(self, compound: exp.SetOperation, name: str) -> str | None:
        """Return the type that a column has in all branches."""
        parts, _ = branches(compound)
        names = self._names(parts[0])
        if names is None or name not in names:
            return None
        kinds = {self._type_at(part, names.index(name)) for part in parts}
        return kinds.pop() if len(kinds) == 1 else None

    def _type_at(self, branch: exp.Expr, place: int) -> str | None:
        names = self._names(branch)
        return None if names is None or place >= len(names) else self.type_of(branch, names[place])

    def _kind(self, tree: exp.Select, value: exp.Expr) -> str | None:
        value = value.unnest()
        if isinstance(value, exp.Cast):
            return type_text(value)
        if isinstance(value, exp.Column):
            source = source_of(tree, value)
            return None if source is None else self.type_of(source, value.name)
        return None

    def _item(self, tree: exp.Select, name: str) -> exp.Expr | None:
        """Return the expression of a result column."""
        if len(tree.expressions) == 1 and type(tree.expressions[0]) is exp.Star:
            star = tree.expressions[0]
            return exp.column(name, quoted=True) if not any(star.args.values()) else None
        found = [i for i in tree.expressions if i.alias_or_name == name]
        return found[0].unalias() if len(found) == 1 else None

    def _names(self, branch: exp.Expr) -> list[str] | None:
        """Return the names of a select's columns."""
        if isinstance(branch, exp.Subquery):
            return self._names(branch.this)
        if not isinstance(branch, exp.Select) or any(i.is_star for i in branch.expressions):
            return None
        return [i.alias_or_name for i in branch.expressions]


def _by_owner(parts: Sequence[Predicate]) -> Iterator[tuple[str, Predicate]]:
    """Yield the conjuncts that are about one source, with its name."""
    for part in parts:
        for one in part.parts if isinstance(part, And) else (part,):
            owners = {name.partition(_MARK)[0] for name in columns_of(one)}
            if len(owners) == 1:
                yield owners.pop(), one


def _of_branch(need: Predicate, places: Mapping[str, int], own: Sequence[str] | None) -> Predicate:
    """Return a need of a compound's result as one of a branch's."""
    if own is None or len(own) != len(places):
        return ALWAYS
    return carried(need, lambda name: own[places[name]] if name in places else None)


def _used_of_branch(
    used: Collection[str] | None, places: Mapping[str, int], own: Sequence[str] | None
) -> Collection[str] | None:
    return None if used is None or own is None else {own[places[name]] for name in used if name in places}


def _tables(tree: exp.Expr) -> Counter[str]:
    return Counter(t.name for t in nodes_of(tree) if isinstance(t, exp.Table) and not t.args.get("db"))


def _types(leaf: Plan) -> Mapping[str, str]:
    return {name: c.type for name, c in zip(column_names(leaf), leaf.schema.columns, strict=True)}
