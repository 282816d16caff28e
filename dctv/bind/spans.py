"""Bind FROM of span and event selects: span joins and broadcasts, with WHERE pushed into their inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dctv.bind import expressions
from dctv.bind.binding import Binding
from dctv.bind.bound import Bound
from dctv.bind.context import Leaves
from dctv.bind.int128 import narrowed
from dctv.bind.many_columns import Starred, of_all
from dctv.bind.partitions import align
from dctv.bind.per_trace import in_each_trace
from dctv.bind.scope import Scope, ScopeTable, table_in_scope
from dctv.errors import BindError, Place
from dctv.plan import build as w
from dctv.plan import walk
from dctv.plan.expressions import Expression
from dctv.plan.nodes import Plan, Relation, physical_names, ranked_names
from dctv.plan.order import RowOrder
from dctv.record import fields, is_record, record, replace
from dctv.syntax import ast
from dctv.types.schema import DURATION, TS, Kind, Schema


@record
class SpanInput:
    """An input table of a span source: its name, and the position of its payload in the plan's columns."""

    alias: str | None
    path: tuple[str, ...]
    positions: tuple[int, ...]


@record
class SpanSource:
    """A bound span source: a plan of span or event kind and the tables that it was made of."""

    plan: Plan
    members: tuple[SpanInput, ...]

    def scope(self, alias: str, parent: Scope | None = None) -> Scope:
        """Return the scope over the plan's columns, where the engine reads it under an alias."""
        schema = self.plan.schema
        whole = table_in_scope(self.plan, alias, None).columns
        special = whole[: schema.special_count]
        if len(self.members) == 1:
            only = self.members[0]
            return Scope([ScopeTable(only.alias, whole, only.path)], parent)
        shared = special[len(schema.kind.time_columns) :]
        tables = [ScopeTable(None, special)]
        tables += [ScopeTable(m.alias, tuple(whole[i] for i in m.positions), m.path, shared) for m in self.members]
        return Scope(tables, parent)


def is_join(node: ast.Table) -> bool:
    """Whether a table is a span join or broadcast."""
    return isinstance(node, ast.SpanJoin | ast.SpanBroadcast)


def bind_spans(binder: Binding, node: ast.Table, where: ast.Expr | None, starred: Starred | None = None) -> SpanSource:
    """Bind a span source; conditions over one input filter it before it is joined.

    `starred` tells the columns that COLUMNS stands for in a condition.
    """
    inputs = {id(leaf): narrowed(binder.table(leaf), leaf.place) for leaf in _inputs(node)}
    late: list[ast.Expr] = []
    if where is not None:
        if starred is not None:
            where = _spelled(binder, node, inputs, where, starred)
        filters, late = _assign(binder, node, inputs, where)
        for key, conditions in filters.items():
            inputs[key] = filtered(binder, _leaf(node, key), inputs[key], conditions)
    source = _build(binder, node, inputs)
    if late:
        leaves = Leaves()
        alias = leaves.alias("spans")
        context = binder.context(source.scope(alias), leaves, clause="WHERE", aggregates_allowed=False)
        tests = [expressions.condition(e, context).value for e in late]
        source = replace(source, plan=_select_where(source.plan, tests, leaves, alias))
    return source


def _spelled(binder: Binding, node: ast.Table, inputs: dict[int, Plan], where: ast.Expr, starred: Starred) -> ast.Expr:
    """Return a condition with the columns of the inputs in place of COLUMNS."""
    tables: list[ScopeTable] = []
    names: dict[Expression, ast.Path] = {}
    for number, leaf in enumerate(_inputs(node)):
        member = member_of(binder, leaf, inputs[id(leaf)])
        (found,) = SpanSource(inputs[id(leaf)], (member,)).scope(f"x{number}").tables
        qualifier = member.path or ((member.alias,) if member.alias is not None else ())
        # As in the select list, times and partitions are not meant.
        payload = tuple(found.columns[index] for index in member.positions)
        for column in payload:
            names[column.value] = ast.Path(tuple(map(ast.Name, (*qualifier, column.name))))
        tables.append(replace(found, columns=payload))

    def named(bound: Bound, place: Place | None) -> ast.Expr:
        path = names.get(bound.value)
        if path is None:
            raise BindError("COLUMNS in WHERE of a span select stands for columns as they are", place)
        return ast.Column(replace(path, place=place), place=place)

    context = binder.context(Scope(tables), Leaves(), clause="WHERE", aggregates_allowed=False)
    return of_all(where, context, starred, named)


def _inputs(node: ast.Table) -> Iterator[ast.Table]:
    """Yield the tables that a tree of span joins is made of, left to right."""
    if isinstance(node, ast.SpanJoin | ast.SpanBroadcast):
        yield from _inputs(node.left)
        yield from _inputs(node.right)
    else:
        yield node


def _leaf(node: ast.Table, key: int) -> ast.Table:
    return next(leaf for leaf in _inputs(node) if id(leaf) == key)


def member_of(binder: Binding, leaf: ast.Table, plan: Plan) -> SpanInput:
    """Describe one input as a member of a source."""
    alias = getattr(leaf, "alias", None)
    path = binder.full_path(leaf)
    name = alias.name.text if alias else (path[-1] if path else None)
    count = plan.schema.special_count
    return SpanInput(name, () if alias else path, tuple(range(count, len(plan.schema.columns))))


def filtered(binder: Binding, leaf: ast.Table, plan: Plan, conditions: Sequence[ast.Expr]) -> Plan:
    """Filter one input."""
    leaves = Leaves()
    alias = leaves.alias("input")
    scope = SpanSource(plan, (member_of(binder, leaf, plan),)).scope(alias)
    context = binder.context(scope, leaves, clause="WHERE", aggregates_allowed=False)
    tests = [expressions.condition(e, context).value for e in conditions]
    return _select_where(plan, tests, leaves, alias)


def _select_where(plan: Plan, tests: list[Expression], leaves: Leaves, alias: str) -> Relation:
    names = physical_names(plan.schema)
    query = w.select(*w.named(w.columns(names, alias), names), source=leaves.name(plan), alias=alias)
    query = w.where(query, *tests)
    # A subquery in the condition becomes a join, which keeps no order.
    plain = walk.is_single(query)
    return Relation(plan.schema, plan.order if plain else RowOrder.ANY, query, leaves.all())


def conjuncts(expr: ast.Expr) -> Iterator[ast.Expr]:
    """Yield the parts of a chain of ANDs."""
    yield from expr.operands if isinstance(expr, ast.Logical) and expr.op == "AND" else (expr,)


def columns_in(node: object) -> Iterator[ast.Column]:
    """Yield the columns that an expression names, those of its subqueries and parameters of lambdas excepted."""
    if isinstance(node, ast.Column):
        yield node
    elif isinstance(node, ast.Lambda):
        own = {name.text.lower() for name in node.parameters}
        yield from (one for one in columns_in(node.body) if one.path.parts[0].text.lower() not in own)
    elif isinstance(node, tuple):
        for item in node:
            yield from columns_in(item)
    elif is_record(node) and isinstance(node, ast.Node) and not isinstance(node, ast.Select):
        for one in fields(node):
            if one.name != "place":
                yield from columns_in(getattr(node, one.name))


def _assign(
    binder: Binding, node: ast.Table, inputs: dict[int, Plan], where: ast.Expr
) -> tuple[dict[int, list[ast.Expr]], list[ast.Expr]]:
    """Give each conjunct of WHERE to the inputs that it is about; the rest filters the joined spans."""
    scopes = {
        id(leaf): SpanSource(inputs[id(leaf)], (member_of(binder, leaf, inputs[id(leaf)]),)).scope("x")
        for leaf in _inputs(node)
    }
    filters: dict[int, list[ast.Expr]] = {}
    late: list[ast.Expr] = []
    for conjunct in conjuncts(where):
        owners = set(scopes)
        for column in columns_in(conjunct):
            # A parameter of a macro is a value, which is about none of the inputs.
            if column.path.parts[0].text.lower() not in binder.env.macro_arguments:
                owners &= _owners(column, scopes, inputs)
        if not owners:
            _check_inner(node, conjunct)
            late.append(conjunct)
        for key in owners:
            filters.setdefault(key, []).append(conjunct)
    return filters, late


def _owners(column: ast.Column, scopes: dict[int, Scope], inputs: dict[int, Plan]) -> set[int]:
    found = {key for key, scope in scopes.items() if scope.find(column.path) or scope.member(column.path)}
    name = column.path.parts[-1].text
    if not found:
        whole = Scope([t for s in scopes.values() for t in s.tables])
        whole.resolve(column.path)
    if len(found) > 1:
        if name.lower() in (TS, DURATION):
            alias = next((t.alias for s in scopes.values() for t in s.tables if t.alias), "input")
            raise BindError(
                f"`{name}` is ambiguous in WHERE: it filters the inputs of a span join, and each input has its own",
                column.place,
                hint=f"write `{alias}.{name}` for an input's, or HAVING {name} for the joined spans'",
            )
        if not all(name.lower() in [p.lower() for p in inputs[key].schema.partitions] for key in found):
            raise BindError(
                f"column `{name}` is ambiguous: {len(found)} inputs have it",
                column.place,
                hint="put the input's name or alias in front",
            )
    return found


def _check_inner(node: ast.Table, conjunct: ast.Expr) -> None:
    if isinstance(node, ast.SpanJoin | ast.SpanBroadcast):
        if node.kind != "INNER":
            raise BindError(
                f"a condition over both inputs of a SPAN {node.kind} join cannot filter either of them",
                conjunct.place,
                hint="HAVING filters the joined spans",
            )
        _check_inner(node.left, conjunct)
        _check_inner(node.right, conjunct)


def _build(binder: Binding, node: ast.Table, inputs: dict[int, Plan]) -> SpanSource:
    if isinstance(node, ast.SpanJoin | ast.SpanBroadcast):
        left, right = _build(binder, node.left, inputs), _build(binder, node.right, inputs)
        return _join(binder, node, left, right)
    plan = inputs[id(node)]
    if plan.schema.kind is Kind.REGULAR:
        word = next((c.name for c in plan.schema.columns if c.name.upper() in (Kind.EVENT.name, Kind.SPAN.name)), None)
        hint = "dctv.as_spans(...) and dctv.as_events(...) give a regular table a kind"
        if word is not None:
            hint = f"to select the column `{word}`, write its name in backticks"
        raise BindError(f"expected a span or event table, found {plan.schema.describe_one()}", node.place, hint=hint)
    return SpanSource(plan, (member_of(binder, node, plan),))


def _join(binder: Binding, node: ast.SpanJoin | ast.SpanBroadcast, left: SpanSource, right: SpanSource) -> SpanSource:
    """Make one join; tables of many traces that differ in their other partitions are joined in each trace."""
    if isinstance(node, ast.SpanBroadcast) or left.plan.schema.partitions != right.plan.schema.partitions:
        found: list[SpanSource] = []

        def make(plans: Sequence[Plan]) -> Plan:
            found.append(_joined(binder, node, *map(without_trace, (left, right), plans)))
            return found[0].plan

        plan = in_each_trace(binder.env, "the join", (left.plan, right.plan), make)
        if plan is not None:
            return SpanSource(plan, tuple(_shifted(one, 1) for one in found[0].members))
    return _joined(binder, node, left, right)


def without_trace(source: SpanSource, plan: Plan) -> SpanSource:
    """Return a source without its first partition, of the plan without it."""
    return SpanSource(plan, tuple(_shifted(one, -1) for one in source.members))


def _shifted(member: SpanInput, by: int) -> SpanInput:
    return replace(member, positions=tuple(position + by for position in member.positions))


def _joined(binder: Binding, node: ast.SpanJoin | ast.SpanBroadcast, left: SpanSource, right: SpanSource) -> SpanSource:
    """Make the kernel of one join, and say where each member's payload went."""
    aligned = align(node, left.plan, right.plan)
    lefts, rights = aligned.left.schema, aligned.right.schema
    schema = Schema(
        lefts.kind, (*aligned.special, *lefts.payload, *rights.payload), tuple(c.name for c in aligned.partitions)
    )
    options: dict[str, object] = {
        "how": aligned.how,
        "partitions": aligned.keys,
        "broadcast": aligned.broadcast,
        "names": physical_names(schema),
    }
    if aligned.compared is not None:
        options["compared"] = aligned.compared
    name = "event join" if lefts.kind is Kind.EVENT else "span join"
    plan = binder.kernel(name, schema, [sorted_plan(aligned.left), sorted_plan(aligned.right)], options, ordered=True)
    count = schema.special_count
    moved = _moved(left, aligned.left, count)
    moved += _moved(right, aligned.right, count + len(lefts.payload))
    return SpanSource(plan, tuple(moved))


def _moved(source: SpanSource, aligned: Plan, start: int) -> list[SpanInput]:
    """Return members whose payload now begins at a position; columns that became partitions are no longer in it."""
    payload = physical_names(aligned.schema)[aligned.schema.special_count :]
    old = physical_names(source.plan.schema)
    return [
        replace(m, positions=tuple(start + payload.index(old[i]) for i in m.positions if old[i] in payload))
        for m in source.members
    ]


def sorted_plan(plan: Plan) -> Plan:
    """Sort a span or event table by time, unless it comes sorted."""
    if plan.ordered:
        return plan
    leaves = Leaves()
    query = w.sorted_by(w.select(w.STAR, source=leaves.name(plan)), *w.by_names(ranked_names(plan.schema)))
    return Relation(plan.schema, order=RowOrder.TIME, query=query, leaves=leaves.all())
