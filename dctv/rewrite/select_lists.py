"""A query and the names of the columns that are wanted of it -> the query that computes only these.

A column stays where it may be more than a value: where it checks rows (`error`), multiplies them (`unnest`) or counts
warnings. Names are compared without regard to case and, where a name has no table in front, counted for every table:
too many columns may stay, never too few.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from sqlglot import exp

from dctv.contracts.engine import ZERO_DIVISION
from dctv.plan.shape import nodes_of
from dctv.plan.sql import aliased, column

_EFFECTS = frozenset({"error", "unnest", "generate_subscripts", ZERO_DIVISION.lower()})


def has_effect(tree: exp.Expr) -> bool:
    """Whether an expression does more than give a value of its row."""
    return any(is_effect(node) for node in nodes_of(tree))


def is_effect(node: exp.Expr) -> bool:
    """Whether a call checks, counts or multiplies rows."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower() in _EFFECTS
    return isinstance(node, exp.Unnest | exp.Explode)


def narrowed(query: exp.Query, wanted: Collection[str], leaves: Mapping[str, Sequence[str]]) -> exp.Query:
    """Return a copy without the result columns that are not wanted, where they can be left out."""
    tree = query.copy()
    _narrow(tree, {w.lower() for w in wanted}, leaves)
    return tree


def result_names(query: exp.Query) -> list[str] | None:
    """Return the names of a query's columns, or None where they are not written in it."""
    if not isinstance(query, exp.Select) or any(e.is_star for e in query.expressions):
        return None
    return [e.alias_or_name for e in query.expressions]


def named_columns(tree: exp.Query, leaves: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the columns of each leaf that a query may read, from one walk: a union may have thousands of leaves."""
    aliases: dict[str, set[str]] = {}
    renamed: set[str] = set()
    found: dict[str, set[str]] = {}
    whole = False
    for node in nodes_of(tree):
        if isinstance(node, exp.Column):
            found.setdefault(node.table.lower(), set()).add(node.name.lower())
        elif isinstance(node, exp.Table):
            if not node.args.get("db"):
                aliases.setdefault(node.name, set()).add(node.alias_or_name.lower())
                if node.args.get("alias") is not None and node.args["alias"].columns:
                    renamed.add(node.name)
        else:
            whole = whole or _names_all(node)
    read = []
    for leaf, columns in leaves.items():
        names = found.get("", set()).union(*(found.get(alias, ()) for alias in aliases.get(leaf, ())))
        everything = whole or leaf in renamed
        read.append([c for c in columns if everything or c.lower() in names])
    return read


def _reads_whole(trees: Sequence[exp.Expr]) -> bool:
    """Whether a part of a query names columns that are not written as columns."""
    return any(_names_all(node) for tree in trees for node in nodes_of(tree))


def _names_all(node: exp.Expr) -> bool:
    """Whether a star, USING or a piece of text may name any column."""
    match node:
        case exp.Star():
            return not isinstance(node.parent, exp.Count)
        case exp.Var():
            return '"' in str(node.this)
        case exp.Join():
            return bool(node.args.get("using"))
        case _:
            return isinstance(node, exp.Columns)


def _mentions(trees: Sequence[exp.Expr], owners: Collection[str]) -> set[str]:
    found = set()
    for tree in trees:
        for one in nodes_of(tree):
            if isinstance(one, exp.Column) and (not one.table or one.table.lower() in owners):
                found.add(one.name.lower())
    return found


def _narrow(tree: exp.Expr, wanted: Collection[str], leaves: Mapping[str, Sequence[str]]) -> None:
    if not isinstance(tree, exp.Select):
        return
    sources = list(_sources(tree))
    items = _items(tree, sources, leaves)
    if items is not None and _may_drop(tree):
        kept = _kept(tree, items, wanted)
        if len(kept) < len(items):
            tree.set("expressions", kept)
    for source in sources:
        if isinstance(source, exp.Subquery) and source.alias and not source.args["alias"].columns:
            others = _without(tree, source)
            names = result_names(source.this)
            if names is not None and not _reads_whole(others):
                _narrow(source.this, _mentions(others, {source.alias.lower()}), leaves)


def _sources(tree: exp.Select) -> Iterator[exp.Expr]:
    source = tree.args.get("from_")
    if source is not None:
        yield source.this
    for join in tree.args.get("joins") or ():
        yield join.this


def _without(tree: exp.Select, source: exp.Expr) -> list[exp.Expr]:
    """Return everything that a select is made of but one of its sources."""
    parts: list[exp.Expr] = []
    for value in tree.args.values():
        parts += [v for v in (value if isinstance(value, list) else [value]) if isinstance(v, exp.Expr)]
    joined = [j for j in parts if isinstance(j, exp.Join) and j.this is source]
    inner = [j.args["on"] for j in joined if j.args.get("on") is not None]
    return [p for p in parts if p not in joined and not (isinstance(p, exp.From) and p.this is source)] + inner


def _items(tree: exp.Select, sources: Sequence[exp.Expr], leaves: Mapping[str, Sequence[str]]) -> list[exp.Expr] | None:
    """Return the select list, with a star written out; None where it cannot be."""
    items = list(tree.expressions)
    if not any(i.is_star for i in items):
        return items
    if len(items) != 1 or len(sources) != 1 or type(items[0]) is not exp.Star or any(items[0].args.values()):
        return None
    source = sources[0]
    names: Sequence[str] | None = None
    if isinstance(source, exp.Table) and not (source.args.get("alias") and source.args["alias"].columns):
        names = leaves.get(source.name)
    elif isinstance(source, exp.Subquery):
        names = result_names(source.this)
    return None if names is None else [aliased(column(n), n) for n in names]


def _may_drop(tree: exp.Select) -> bool:
    """Whether the rows of a select are the same whatever stands in its list."""
    group, order = tree.args.get("group"), tree.args.get("order")
    if tree.args.get("distinct") is not None:
        return False
    if group is None and tree.args.get("having") is not None:
        return False
    if group is not None and (group.args.get("all") or any(isinstance(e, exp.Literal) for e in group.expressions)):
        return False
    return order is None or not any(isinstance(t.this, exp.Literal) for t in order.expressions)


def _kept(tree: exp.Select, items: Sequence[exp.Expr], wanted: Collection[str]) -> list[exp.Expr]:
    by_name = _alias_uses(tree, items)
    kept = [
        i for i in items if i.alias_or_name.lower() in wanted or i.alias_or_name.lower() in by_name or has_effect(i)
    ]
    kept = kept or list(items[:1])
    if tree.args.get("group") is None and not any(_is_of_row(i) for i in kept):
        # Without a column outside of functions this may be the one row of aggregates.
        return list(items)
    return kept


def _is_of_row(item: exp.Expr) -> bool:
    """Whether an item can only stand in a select that gives its rows one by one."""
    return item.find(exp.Column) is not None and item.find(exp.Anonymous, exp.AggFunc) is None


def _alias_uses(tree: exp.Select, items: Sequence[exp.Expr]) -> set[str]:
    """Return the names by which clauses or other items may mean a result column."""
    clauses = [v for k, v in tree.args.items() if k not in ("from_", "joins") and isinstance(v, exp.Expr)]
    found = _mentions([*clauses, *(tree.args.get("windows") or [])], ())
    for item in items:
        found |= _mentions([item], ()) - {item.alias_or_name.lower()}
    return found
