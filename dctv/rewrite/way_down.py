"""A condition in a query -> the leaf that it is about, and the same condition over that leaf's columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from sqlglot import exp

from dctv.plan.shape import nodes_of
from dctv.plan.sql import column
from dctv.record import record
from dctv.rewrite.select_lists import has_effect


@record
class Way:
    """Where a condition leads."""

    leaf: str
    test: exp.Expr
    """Over the leaf's columns, without a table in front."""


def reads(query: exp.Query) -> Mapping[str, int]:
    """Return how often a query reads each of its leaves."""
    return Counter(t.name for t in nodes_of(query) if isinstance(t, exp.Table))


def way_down(
    select: exp.Query, test: exp.Expr, read: Mapping[str, int], *, grouped: bool, above: bool = False
) -> Way | None:
    """Return where a condition can go that is written in a select (or, if `above`, over its result columns).

    Args:
        select: A select somewhere in the query.
        test: The condition.
        read: How often the query reads its leaves; it must read this one once.
        grouped: Whether the condition is applied to groups.
        above: Whether the condition names result columns.
    """
    found = _result(select, test) if above else _source(select, test, grouped=grouped)
    return found if found is not None and read.get(found.leaf) == 1 else None


def _result(select: exp.Query, test: exp.Expr) -> Way | None:
    """Write a condition over result columns as one over what the select reads."""
    if not isinstance(select, exp.Select) or not _is_plain(select):
        return None
    items = {i.alias_or_name: i.unalias() for i in select.expressions}
    starred = len(select.expressions) == 1 and type(select.expressions[0]) is exp.Star
    values: dict[str, exp.Expr] = {}
    for one in test.find_all(exp.Column):
        value = column(one.name) if starred else items.get(one.name)
        if not isinstance(value, exp.Column):
            return None
        values[one.name] = value
    inner = test.transform(lambda n: values[n.name].copy() if isinstance(n, exp.Column) else n)
    return _source(select, inner, grouped=select.args.get("group") is not None)


def _is_plain(select: exp.Select) -> bool:
    """Whether each row (or group) of a select comes of its own rows, and nothing else is done with them."""
    clauses = ("distinct", "limit", "offset", "qualify", "with_", "sample", "windows")
    if any(select.args.get(c) for c in clauses) or has_effect(select):
        return False
    return not any(w.find_ancestor(exp.Select) is select for w in select.find_all(exp.Window))


def _source(select: exp.Query, test: exp.Expr, *, grouped: bool) -> Way | None:
    """Follow a condition over the columns of a select's sources."""
    assert isinstance(select, exp.Select)
    columns = list(test.find_all(exp.Column))
    if not columns or test.find(exp.Select) is not None or (grouped and not _are_keys(select, columns)):
        return None
    source = _owner(select, columns)
    if source is None or (isinstance(source, exp.Table) and source.args.get("db")):
        return None
    bare = test.transform(lambda n: column(n.name) if isinstance(n, exp.Column) else n)
    alias = source.args.get("alias")
    if alias is not None and alias.columns:
        return None
    if isinstance(source, exp.Table):
        return Way(source.name, bare)
    return _result(source.this, bare) if isinstance(source, exp.Subquery) else None


def _are_keys(select: exp.Select, columns: list[exp.Column]) -> bool:
    group = select.args.get("group")
    if group is None or any(v for k, v in group.args.items() if k != "expressions"):
        return False
    keys = {e.sql() for e in group.expressions if isinstance(e, exp.Column)}
    return all(c.sql() in keys for c in columns)


def _owner(select: exp.Select, columns: list[exp.Column]) -> exp.Expr | None:
    """Return the one source whose columns are named, if conditions on it may be applied before joins."""
    first = select.args.get("from_")
    if first is None:
        return None
    joins: list[exp.Join] = select.args.get("joins") or []
    if select.args.get("laterals") or any(j.method or j.kind not in ("", "INNER", "CROSS") for j in joins):
        return None
    sides = {j.side for j in joins}
    sources = [first.this, *(j.this for j in joins)] if sides <= {""} else [first.this] if sides <= {"", "LEFT"} else []
    owners = {c.table for c in columns}
    if len(owners) != 1:
        return None
    (owner,) = owners
    if not owner:
        return sources[0] if sources and not joins else None
    named: Mapping[str, exp.Expr] = {s.alias_or_name: s for s in sources}
    return named.get(owner)
