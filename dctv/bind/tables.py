"""Bind FROM of a regular select: names, subqueries and conventional joins become engine tables in scope."""

from __future__ import annotations

from dctv.bind import expressions
from dctv.bind.alike import alike
from dctv.bind.asof import check_asof, with_one_nearest
from dctv.bind.binding import Binding
from dctv.bind.bound import Bound
from dctv.bind.comma_warnings import warn_of_comma
from dctv.bind.context import Leaves
from dctv.bind.dependencies import Dependencies
from dctv.bind.joined_tables import as_one
from dctv.bind.laterals import alone_or_beside, inlined, renamed
from dctv.bind.nearest import as_lateral
from dctv.bind.samples import ROW, numbered
from dctv.bind.scope import Scope, ScopeColumn, ScopeTable, table_in_scope
from dctv.bind.spans import bind_spans, columns_in, is_join
from dctv.bind.types import BOOLEAN, of_choice, of_operator
from dctv.errors import BindError, nearest
from dctv.plan import walk
from dctv.plan.build import all_of, call
from dctv.plan.expressions import TRUE, Binary, Column, Expression
from dctv.plan.nodes import Plan
from dctv.plan.queries import Derived, FromItem, Join, JoinKind, TableName
from dctv.record import field, record, replace
from dctv.syntax import ast
from dctv.syntax.keywords import LISTINGS
from dctv.types.schema import ColumnType


@record(frozen=False)
class FromClause:
    """The bound FROM clause: the sources and joins of the query, and the tables in scope."""

    scope: Scope
    first: FromItem | None = None
    joins: list[Join] = field(default_factory=list)
    merged_away: set[Expression] = field(default_factory=set)
    """Columns that `*` leaves out, since USING has merged them with another."""
    stable: bool = True
    parts: list[Bound] = field(default_factory=list)
    positions: list[Expression] = field(default_factory=list)
    """The numbers of the rows that POSITIONAL JOIN joins."""
    sure: bool = True
    """Whether the engine surely has nothing against the joins."""


def bind_source(binder: Binding, node: ast.Table | None, parent: Scope | None, leaves: Leaves) -> FromClause:
    """Bind a FROM clause."""
    source = FromClause(Scope([], parent))
    if node is not None:
        source.first, tables = _add(binder, node, source, leaves)
        _extend(source.scope, tables, node)
    return source


def _extend(scope: Scope, tables: list[ScopeTable], node: ast.Table) -> None:
    for new in tables:
        for old in scope.tables:
            same = new.alias is not None and old.alias is not None and new.alias.lower() == old.alias.lower()
            if same and new.path == old.path:
                raise BindError(
                    f"two tables are called `{new.alias}`", node.place, hint="give one of them another name with AS"
                )
        scope.tables.append(new)


def _add(binder: Binding, node: ast.Table, source: FromClause, leaves: Leaves) -> tuple[FromItem, list[ScopeTable]]:
    """Bind a table; a conventional join adds to the source and hands its leftmost table on."""
    if not isinstance(node, ast.Join):
        return _item(binder, node, source, leaves)
    if node.kind == "POSITIONAL":
        return _positional(binder, node, source, leaves), []
    warn_of_comma(node, binder.env.warnings)
    nearest_rows = node.nearest
    if nearest_rows is not None:
        node = as_lateral(node, nearest_rows)
    first, tables = _add(binder, node.left, source, leaves)
    _extend(source.scope, tables, node.left)
    # Nothing depends on what is joined to rows that stay in any case.
    side = binder.copy(dependencies=Dependencies()) if node.kind in ("LEFT", "ASOF LEFT") else binder
    right, right_tables = _side(side, node.right, source, leaves)
    if isinstance(right, Derived) and node.kind not in _BESIDE and walk.free(right.query):
        raise BindError(
            f"the right side of a {node.kind} JOIN reads columns of the left one",
            node.right.place,
            hint="a subquery of an INNER, LEFT or CROSS JOIN, or after a comma, may do that",
        )
    left_scope = Scope(list(source.scope.tables), source.scope.parent, dict(source.scope.merged))
    _extend(source.scope, right_tables, node.right)
    if nearest_rows is not None:
        # In the subquery a name of both sides means the right one; in a condition it is an error.
        for column in columns_in(nearest_rows.by):
            if column.path.text.lower() not in binder.env.macro_arguments:
                source.scope.find(column.path)
    source.stable = False
    source.joins.append(_join(binder, node, right, (left_scope, Scope(right_tables)), source, leaves))
    return first, []


def _positional(binder: Binding, node: ast.Join, source: FromClause, leaves: Leaves) -> FromItem:
    """Join rows by their numbers; the shorter side has NULLs at its end."""
    if node.on is not None or node.using:
        raise BindError("POSITIONAL JOIN has no condition", node.place, hint="JOIN ... ON has one")
    if isinstance(node.left, ast.Join) and node.left.kind == "POSITIONAL":
        first, _ = _add(binder, node.left, source, leaves)
    else:
        first = _numbered(binder, node.left, source, leaves)
    right = _numbered(binder, node.right, source, leaves)
    *before, last = source.positions
    either = before[0] if len(before) == 1 else call("coalesce", *before)
    source.stable = False
    source.joins.append(Join(right, "FULL", Binary("=", either, last)))
    return first


def _numbered(binder: Binding, node: ast.Table, source: FromClause, leaves: Leaves) -> FromItem:
    if isinstance(node, ast.Join):
        raise BindError(
            "POSITIONAL JOIN joins tables, not rows that are joined already",
            node.place,
            hint="put the other join into a subquery",
        )
    plan = binder.table(node)
    shown, path = _called(binder, node)
    inner = leaves.alias(shown or "t")
    source.positions.append(Column(ROW, inner))
    _extend(source.scope, [_by_alias(table_in_scope(plan, inner, shown, path), node)], node)
    return Derived(numbered(plan, leaves.name(plan)), inner)


def _called(binder: Binding, node: ast.Table) -> tuple[str | None, tuple[str, ...]]:
    """Return a table's name, and its full name if it has no alias."""
    alias = getattr(node, "alias", None)
    path = binder.full_path(node)
    return (alias.name.text, ()) if alias else (path[-1] if path else None, path)


def _side(binder: Binding, node: ast.Table, source: FromClause, leaves: Leaves) -> tuple[FromItem, list[ScopeTable]]:
    if not isinstance(node, ast.Join):
        return _item(binder, node, source, leaves)
    inner = FromClause(Scope([], source.scope.parent))
    first, tables = _add(binder, node, inner, leaves)
    _extend(inner.scope, tables, node)
    if inner.scope.merged or inner.positions:
        raise BindError(
            "a join in parentheses on the right side has a condition with ON",
            node.place,
            hint="join one after another, or use a subquery",
        )
    source.parts += inner.parts
    source.sure = source.sure and inner.sure
    return as_one(first, inner.joins, inner.scope.tables, leaves)


def _item(binder: Binding, node: ast.Table, source: FromClause, leaves: Leaves) -> tuple[FromItem, list[ScopeTable]]:
    if binder.recursive and isinstance(node, ast.TableSelect):
        source.sure = False
        return inlined(binder, node, source.scope, leaves)[:2]
    if is_join(node):
        spans = bind_spans(binder, node, None)
        source.stable = source.stable and spans.plan.stable
        inner = leaves.alias("spans")
        return TableName(leaves.name(spans.plan), inner), spans.scope(inner).tables
    if binder.recursive and isinstance(node, ast.TableName) and node.alias is not None and node.alias.columns:
        # Renamed in scope: a query of its own around the table would not be the table that is being made.
        plain = replace(node, alias=replace(node.alias, columns=()))
        first, tables = _item(binder, plain, source, leaves)
        return first, [renamed(tables[0], node.alias)]
    alone = alone_or_beside(binder, node, source.scope, leaves)
    if not isinstance(alone, Plan):
        derived, tables, query = alone
        source.stable, source.sure = False, source.sure and query.sure
        source.parts.append(Bound(TRUE, place=node.place, parts=query.parts, type=BOOLEAN, serial=query.serial))
        return derived, [_by_alias(table, node) for table in tables]
    plan = alone
    source.stable = source.stable and plan.stable
    shown, path = _called(binder, node)
    inner = leaves.alias(shown or "t")
    table = table_in_scope(plan, inner, shown, path)
    return TableName(leaves.name(plan), inner), [_by_alias(table, node)]


def _by_alias(table: ScopeTable, node: ast.Table) -> ScopeTable:
    """Return a table whose values have the name of its alias, if it is a call such as range(3) AS r."""
    if not isinstance(node, ast.TableCall) or node.path.text.upper() not in LISTINGS:
        return table
    return table.listing(node.path.text.lower()) if node.alias is not None and not node.alias.columns else table


_BESIDE = ("INNER", "LEFT", "CROSS")
"""Joins whose right side may read columns of the left one."""


def _join(
    binder: Binding,
    node: ast.Join,
    right: FromItem,
    scopes: tuple[Scope, Scope],
    source: FromClause,
    leaves: Leaves,
) -> Join:
    if node.kind == "CROSS" and (node.on is not None or node.using):
        raise BindError("CROSS JOIN has no condition", node.place, hint="JOIN ... ON has one")
    if node.natural:
        node = _natural(node, scopes)
    assert node.kind != "POSITIONAL"
    asof = node.kind.startswith("ASOF")
    conditions: list[Expression] = []
    if node.using:
        conditions = [_merge(node, name, scopes, source, last=name is node.using[-1]) for name in node.using]
    elif node.on is not None:
        context = binder.context(source.scope, leaves, clause="ON", aggregates_allowed=False)
        bound = expressions.condition(node.on, context)
        source.parts.append(bound)
        if asof:
            check_asof(bound, source.scope, scopes[1], node.kind)
        conditions = [bound.value]
    elif node.kind not in ("CROSS", "INNER"):
        raise BindError(f"{node.kind} JOIN needs ON or USING", node.place)
    if node.kind in ("SEMI", "ANTI"):
        del source.scope.tables[-len(scopes[1].tables) :]
    if asof:
        right, conditions = with_one_nearest(right, conditions, scopes[1], leaves)
    kind: JoinKind = "LEFT" if node.kind == "ASOF LEFT" else "INNER" if node.kind == "ASOF" else node.kind
    return Join(right, kind if conditions else "CROSS", all_of(conditions), asof)


def _natural(node: ast.Join, scopes: tuple[Scope, Scope]) -> ast.Join:
    """Return a join of columns that both sides have, in the order of the left one."""
    if node.on is not None or node.using:
        raise BindError("NATURAL JOIN compares columns of the same name, and has no ON or USING", node.place)
    theirs = {c.name.lower() for c in scopes[1].columns()}
    names = dict.fromkeys(c.name for c in scopes[0].columns() if c.name.lower() in theirs)
    if not names:
        raise BindError(
            "NATURAL JOIN needs a column that both sides have",
            node.place,
            hint="JOIN ... ON compares columns of different names",
        )
    return replace(node, using=tuple(ast.Name(name, place=node.place) for name in names), natural=False)


def _merge(
    node: ast.Join, name: ast.Name, scopes: tuple[Scope, Scope], source: FromClause, *, last: bool
) -> Expression:
    """Write one column of USING as a condition, and make its bare name mean both."""
    path = ast.Path((name,), place=name.place)
    columns = [s.find(path) for s in scopes]
    for scope, found in zip(scopes, columns, strict=True):
        if found is None:
            aliases = " or ".join(f"`{t.alias}`" for t in scope.tables if t.alias) or "the subquery"
            near = nearest(name.text, scope.all_names())
            hint = f"did you mean `{near}`?" if near else None
            raise BindError(f"{aliases} has no column `{name.text}`", name.place, hint=hint)
    bounds = [Scope(s.tables, None, s.merged).resolve(path) for s in scopes]
    left, right = alike(bounds, "USING")
    assert columns[0] is not None
    assert columns[1] is not None
    value = (right if node.kind == "RIGHT" else left).value
    if node.kind == "FULL":
        value = call("coalesce", left.value, right.value)
    source.merged_away.add(columns[1].value)
    if node.kind in ("RIGHT", "FULL"):
        source.merged_away.add(columns[0].value)
    if columns[0].value in source.merged_away:
        # In the place of the first of them, `*` has what they are merged into.
        source.merged_away.add(value)
    both = of_choice([left.type, right.type]) if node.kind == "FULL" else (right if node.kind == "RIGHT" else left).type
    merged = ScopeColumn(ColumnType(columns[0].name, "" if both is None else both.text, left.unit), value)
    source.scope.merged[name.text.lower()] = merged
    operator = ">=" if last and node.kind.startswith("ASOF") else "="
    source.sure = source.sure and of_operator(operator, left.type, right.type) is not None
    return Binary(operator, left.value, right.value)
