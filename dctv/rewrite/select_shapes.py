"""What a select of the engine is made of: its sources, which of them are preserved, its group keys, nested queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from dctv.plan.shape import LEAVES, nodes_of


def all_rows(compound: exp.Expr) -> bool:
    """Whether a compound is UNION ALL and nothing else is done with its rows."""
    others = any(v for k, v in compound.args.items() if k not in ("this", "expression", "distinct"))
    return type(compound) is exp.Union and not compound.args.get("distinct") and not others


def branches(tree: exp.Expr) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """Return the queries of a chain of compounds from left to right, and the compounds."""
    found: list[exp.Expr] = []
    compounds: list[exp.Expr] = []
    node: exp.Expr = tree
    while isinstance(node, exp.SetOperation):
        found.append(node.expression)
        compounds.append(node)
        node = node.this
    return [node, *reversed(found)], compounds


def sources(tree: exp.Select) -> list[exp.Expr]:
    """Return what a select reads: what stands in FROM, then what is joined."""
    first = tree.args.get("from_")
    return [] if first is None else [first.this, *(join.this for join in tree.args.get("joins") or ())]


def preserved_sources(tree: exp.Select) -> list[exp.Expr]:
    """Return the sources of which each row must meet the conditions of the whole."""
    joins: Sequence[exp.Join] = tree.args.get("joins") or ()
    if tree.args.get("laterals") or any(join.side not in ("", "LEFT") for join in joins):
        return []
    plain = [j.this for j in joins if not j.side and not j.method and j.kind in ("", "INNER", "CROSS")]
    return [*sources(tree)[:1], *plain]


def source_of(tree: exp.Select, column: exp.Column) -> exp.Expr | None:
    """Return the source that a column is of."""
    every = sources(tree)
    if not column.table:
        return every[0] if len(every) == 1 else None
    found = [one for one in every if one.alias_or_name == column.table]
    alias = found[0].args.get("alias") if len(found) == 1 else None
    return found[0] if len(found) == 1 and not (alias is not None and alias.columns) else None


def group_keys(tree: exp.Select) -> set[str] | None:
    """Return the columns that a select groups by, as text; None if it does not group."""
    group = tree.args.get("group")
    if group is None:
        return None
    if any(v for k, v in group.args.items() if k != "expressions"):
        return set()
    return {e.sql() for e in group.expressions if isinstance(e, exp.Column)}


def picks_rows(tree: exp.Select) -> bool:
    """Whether DISTINCT ON picks rows."""
    distinct = tree.args.get("distinct")
    return distinct is not None and distinct.args.get("on") is not None


def bare(value: exp.Expr) -> exp.Expr:
    """Return what casts are around."""
    value = value.unnest()
    return bare(value.this) if isinstance(value, exp.Cast) else value


def numbers_rows(value: exp.Expr) -> bool:
    """Whether a value is `row_number() OVER ()`."""
    if not isinstance(value, exp.Window) or any(v for k, v in value.args.items() if k not in ("this", "over")):
        return False
    return isinstance(value.this, exp.RowNumber) or value.this.name.lower() == "row_number"


def read_names(tree: exp.Select) -> set[str] | None:
    """Return the names of columns that a select reads for more than to sort by them; None where a star reads all."""
    order = tree.args.get("order")
    terms = [] if order is None else [t.this if isinstance(t, exp.Ordered) else t for t in order.expressions]
    parts = [term for term in terms if not isinstance(term, exp.Column)]
    for key, value in tree.args.items():
        if key not in ("from_", "joins", "with_", "order"):
            parts += [v for v in (value if isinstance(value, list) else [value]) if isinstance(v, exp.Expr)]
    for join in tree.args.get("joins") or ():
        if join.args.get("using") or join.method:
            return None
        parts += [v for k, v in join.args.items() if k != "this" and isinstance(v, exp.Expr)]
    names = set()
    for part in parts:
        for node in nodes_of(part):
            if isinstance(node, exp.Star | exp.Columns):
                return None
            if isinstance(node, exp.Column):
                names.add(node.name)
    return names


def nested_queries(tree: exp.Select) -> Iterator[exp.Expr]:
    """Yield the queries that stand in a select's expressions."""
    stack: list[object] = [v for k, v in tree.args.items() if k not in ("from_", "joins", "with_")]
    stack += [join.args.get("on") for join in tree.args.get("joins") or ()]
    while stack:
        one = stack.pop()
        if isinstance(one, exp.Query):
            yield one
        elif isinstance(one, exp.Expr):
            stack += [value for value in one.args.values() if type(value) not in LEAVES]
        elif isinstance(one, list):
            stack += one
