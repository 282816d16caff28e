"""Convert expressions and queries of the plan to the syntax trees of the library that writes SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any

from sqlglot import exp

from dctv.contracts.engine import ZERO_DIVISION, ZERO_DIVISION_IN_KEY
from dctv.errors import Place
from dctv.plan import expressions as e
from dctv.plan import queries as q
from dctv.plan.build import start_by_name
from dctv.plan.node import Node, Query
from dctv.plan.states import restored
from dctv.plan.walk import replaced
from dctv.record import record
from dctv.signatures.types import STATE, parse

PLACE = "place"
"""The key of a tree's metadata for where a user has written it."""
_BINARY: Mapping[str, type[exp.Binary]] = {
    "+": exp.Add,
    "-": exp.Sub,
    "*": exp.Mul,
    "/": exp.Div,
    "//": exp.IntDiv,
    "%": exp.Mod,
    "||": exp.DPipe,
    "<<": exp.BitwiseLeftShift,
    ">>": exp.BitwiseRightShift,
    "&": exp.BitwiseAnd,
    "|": exp.BitwiseOr,
    "=": exp.EQ,
    "!=": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
    "<=>": exp.NullSafeEQ,
    "<!=>": exp.NullSafeNEQ,
}
_UNARY: Mapping[str, type[exp.Unary]] = {"-": exp.Neg, "~": exp.BitwiseNot, "NOT": exp.Not}
_LIKE: Mapping[str, type[exp.Expr]] = {"LIKE": exp.Like, "ILIKE": exp.ILike, "GLOB": exp.Glob}
_COMPOUNDS: Mapping[str, type[exp.SetOperation]] = {
    "UNION": exp.Union,
    "INTERSECT": exp.Intersect,
    "EXCEPT": exp.Except,
}
_ATOMS = (
    e.Column,
    e.Null,
    e.Boolean,
    e.Number,
    e.Text,
    e.Call,
    e.State,
    e.Cast,
    e.Subquery,
    e.Exists,
    e.Case,
    e.Window,
    e.Row,
    e.List,
    e.Struct,
)
"""Nodes that need no parentheses in any context."""


def expression(node: e.Expression) -> exp.Expr:
    """Return the tree of an expression."""
    return _EXPRESSIONS[type(node)](node)


@record
class WrittenQuery(Query):
    """A query that is already text."""

    text: str


@record
class GroupedBy(e.Expression):
    """The columns of one grouping set, in parentheses even if it is one column, as some engines require."""

    keys: tuple[e.Expression, ...]


def query(node: Query) -> exp.Expr:
    """Return the tree of a query."""
    match node:
        case q.Select():
            return _select(node)
        case WrittenQuery(text):
            return exp.Var(this=text)
        case _:
            return _compound(node)


def identifier(name: str) -> exp.Identifier:
    """Quote a name."""
    return exp.Identifier(this=name, quoted=True)


def _operand(node: e.Expression) -> exp.Expr:
    made = expression(node)
    return made if isinstance(node, _ATOMS) else exp.Paren(this=made)


def _expressions(nodes: Sequence[e.Expression]) -> list[exp.Expr]:
    return [expression(one) for one in nodes]


def _column(node: e.Column) -> exp.Expr:
    return exp.Column(this=identifier(node.name), table=None if node.table is None else identifier(node.table))


def _star(node: e.Star) -> exp.Expr:
    return exp.Star() if node.table is None else exp.Column(this=exp.Star(), table=identifier(node.table))


def _chain(form: type[exp.Expr]) -> Callable[[Any], exp.Expr]:
    def made(node: e.And | e.Or) -> exp.Expr:
        first, *others = node.parts
        tree = _operand(first)
        for one in others:
            tree = form(this=tree, expression=_operand(one))
        return tree

    return made


def _like(node: e.Like) -> exp.Expr:
    made = _LIKE[node.operator](this=_operand(node.operand), expression=_operand(node.pattern))
    return made if node.escape is None else exp.Escape(this=made, expression=_operand(node.escape))


def _case(node: e.Case) -> exp.Expr:
    return exp.Case(
        this=None if node.operand is None else _operand(node.operand),
        ifs=[exp.If(this=expression(test), true=expression(value)) for test, value in node.branches],
        default=None if node.default is None else expression(node.default),
    )


def data_type(name: str) -> exp.DataType:
    """Name a type, as the engine does."""
    return exp.DataType(this=exp.DType.USERDEFINED, kind=name)


def _placed(made: exp.Expr, place: Place | None) -> exp.Expr:
    if place is not None:
        made.meta[PLACE] = place
    return made


def _cast(node: e.Cast) -> exp.Expr:
    if node.type.startswith(STATE):
        return expression(restored(node.operand, parse(node.type)))
    made = (exp.TryCast if node.lenient else exp.Cast)(this=expression(node.operand), to=data_type(node.type))
    return _placed(made, node.place)


def _state(node: e.State) -> exp.Expr:
    # As text, since the library does not know the words.
    return exp.Var(this=f"{_call(node.call).sql(dialect='duckdb')} EXPORT_STATE")


def _row(node: e.Row) -> exp.Expr:
    items = _expressions(node.items)
    return exp.Tuple(expressions=items) if len(items) > 1 else exp.Anonymous(this="row", expressions=items)


def _struct(node: e.Struct) -> exp.Expr:
    members = zip(node.names, node.members, strict=True)
    values: list[exp.Expr] = [
        exp.PropertyEQ(this=identifier(name), expression=expression(value)) for name, value in members
    ]
    return exp.Anonymous(this="struct_pack", expressions=values)


def _lambda(node: e.Lambda) -> exp.Expr:
    # Without `colon`, older sqlglot writes `x -> x`, which DuckDB refuses.
    parameters = [identifier(name) for name in node.parameters]
    return exp.Lambda(this=expression(node.body), expressions=parameters, colon=True)


def _keyword(node: e.Keyword) -> exp.Expr:
    return exp.PropertyEQ(this=exp.to_identifier(node.name), expression=expression(node.value))


def _ordered(node: e.Ordered) -> exp.Ordered:
    return exp.Ordered(this=expression(node.operand), desc=node.descending or None, nulls_first=node.nulls_first)


def _call(node: e.Call) -> exp.Expr:
    if node.function.lower() == "try":
        node = replaced(node, _uncounted)
    values = _expressions(node.arguments)
    if node.distinct and len(values) == 1:
        values = [exp.Distinct(expressions=values)]
    elif node.distinct:
        # As text, since the library makes a row of several arguments.
        values = [exp.Var(this=f"DISTINCT {values[0].sql(dialect='duckdb')}"), *values[1:]]
    if node.order_by:
        by = [_ordered(one) for one in node.order_by]
        values = [*values[:-1], exp.Order(this=values[-1] if values else None, expressions=by)]
    if node.nulls is not None and values:
        # As text, since the library drops these words from functions that it does not know as window functions.
        values[-1] = exp.Var(this=f"{values[-1].sql(dialect='duckdb')} {node.nulls} NULLS")
    made: exp.Expr = exp.Anonymous(this=node.function, expressions=values)
    if node.filter is not None:
        made = exp.Filter(this=made, expression=exp.Where(this=expression(node.filter)))
    return made


def _window(node: e.Window) -> exp.Expr:
    return exp.Window(
        this=_call(node.call),
        partition_by=_expressions([replaced(one, _in_key) for one in node.partition_by]),
        order=_order([replaced(one, _in_key) for one in node.order_by]),
        spec=None if node.frame is None else _frame(node.frame),
    )


def _uncounted(node: Node) -> Node | None:
    """Return the test of a divisor for zero without its count: TRY takes no functions with effects."""
    match node:
        case e.IsNull(e.Call(function)) if function == ZERO_DIVISION:
            return e.TRUE
        case _:
            return None


def _in_key(node: Node) -> Node | None:
    """Return what counts divisions by zero in a key of a window, in place of what counts them elsewhere."""
    if isinstance(node, e.Call) and node.function == ZERO_DIVISION:
        # A divisor may divide, too.
        return e.Call(ZERO_DIVISION_IN_KEY, tuple([replaced(one, _in_key) for one in node.arguments]))
    return None


def _frame(node: e.Frame) -> exp.WindowSpec:
    start, start_side = _bound(node.start)
    end, end_side = _bound(node.stop)
    out = None if node.exclude is None else exp.Var(this=node.exclude)
    return exp.WindowSpec(kind=node.unit, start=start, start_side=start_side, end=end, end_side=end_side, exclude=out)


def _bound(node: e.FrameEnd) -> tuple[str | exp.Expr, str | None]:
    if node.offset is not None:
        return expression(node.offset), node.kind
    unbounded, _, side = node.kind.partition(" ")
    return (node.kind, None) if node.kind == "CURRENT ROW" else (unbounded, side)


def _in_query(node: e.InQuery) -> exp.Expr:
    operand, rows = _operand(node.operand), exp.Subquery(this=query(node.query))
    if node.words == "IN":
        return exp.In(this=operand, query=rows)
    return _BINARY[node.operator](this=operand, expression=(exp.All if node.every else exp.Any)(this=rows))


_EXPRESSIONS: Mapping[type, Callable[[Any], exp.Expr]] = {
    e.Column: _column,
    e.Star: _star,
    e.Null: lambda _: exp.Null(),
    e.Boolean: lambda node: exp.Boolean(this=node.value),
    e.Number: lambda node: exp.Literal(this=node.text, is_string=False),
    e.Text: lambda node: _placed(exp.Literal(this=node.value, is_string=True), node.place),
    e.Unary: lambda node: _UNARY[node.operator](this=_operand(node.operand)),
    e.Binary: lambda node: _BINARY[node.operator](this=_operand(node.left), expression=_operand(node.right)),
    e.And: _chain(exp.And),
    e.Or: _chain(exp.Or),
    e.IsNull: lambda node: exp.Is(this=_operand(node.operand), expression=exp.Null()),
    e.Like: _like,
    e.Between: lambda node: exp.Between(this=_operand(node.operand), low=_operand(node.low), high=_operand(node.high)),
    e.InList: lambda node: exp.In(this=_operand(node.operand), expressions=_expressions(node.items)),
    e.InQuery: _in_query,
    e.Exists: lambda node: exp.Exists(this=query(node.query)),
    e.Subquery: lambda node: exp.Subquery(this=query(node.query)),
    e.Case: _case,
    e.Cast: _cast,
    e.StartOf: lambda node: expression(start_by_name(node)),
    # As text, since the library quotes names of collations, which the engine then takes for one.
    e.Collate: lambda node: exp.Var(this=f"{_operand(node.operand).sql(dialect='duckdb')} COLLATE {node.collation}"),
    e.Row: _row,
    GroupedBy: lambda node: exp.Tuple(expressions=_expressions(node.keys)),
    e.List: lambda node: exp.Array(expressions=_expressions(node.items)),
    e.Struct: _struct,
    e.Lambda: _lambda,
    e.Keyword: _keyword,
    e.Ordered: _ordered,
    # As text, since the library knows shares of rows in FETCH only.
    e.Percent: lambda node: exp.Var(this=f"({expression(node.operand).sql(dialect='duckdb')}) %"),
    e.Call: _call,
    e.State: _state,
    e.Window: _window,
}


def _alias(node: q.FromItem) -> exp.TableAlias | None:
    if node.alias is None and not node.columns:
        return None
    named = None if node.alias is None else identifier(node.alias)
    return exp.TableAlias(this=named, columns=[identifier(name) for name in node.columns])


def _source(node: q.FromItem) -> exp.Expr:
    alias = _alias(node)
    match node:
        case q.TableName():
            whole = identifier("recurring") if node.recurring else None
            return exp.Table(this=identifier(node.name), db=whole, alias=alias)
        case q.Derived():
            return exp.Subquery(this=query(node.query), alias=alias)
        case q.Rows():
            return exp.Values(expressions=[exp.Tuple(expressions=_expressions(row)) for row in node.rows], alias=alias)
        case q.TableCall():
            return exp.Table(this=_call(node.call), alias=alias)
        case _:
            raise AssertionError(type(node))


def _join(node: q.Join) -> exp.Join:
    outer = node.kind in ("LEFT", "RIGHT", "FULL")
    return exp.Join(
        this=_source(node.source),
        method="ASOF" if node.asof else None,
        side=node.kind if outer else None,
        kind=None if outer or (node.asof and node.kind == "INNER") else node.kind,
        on=None if node.on is None else expression(node.on),
    )


def _order(terms: Sequence[e.Ordered]) -> exp.Order | None:
    return exp.Order(expressions=[_ordered(one) for one in terms]) if terms else None


def _group(node: q.Group, items: Sequence[q.Item]) -> exp.Group:
    if node.all:
        return exp.Group(all=True)
    keys = [_sets(one, items) if isinstance(one, q.GroupingSets) else _group_key(one, items) for one in node.keys]
    return exp.Group(expressions=keys)


def _group_key(key: e.Expression, items: Sequence[q.Item]) -> exp.Expr:
    """Write a key; SQL takes a number for a position, so it is written as that of the column with this value."""
    match key:
        case e.Number(text) | e.Unary("-", e.Number(text)) if text.isdigit():
            values = [item.value for item in takewhile(lambda item: not item.is_star, items)]
            if key in values:
                return exp.Literal.number(values.index(key) + 1)
            # All constants group alike.
            return exp.Is(this=expression(key), expression=exp.Null())
        case _:
            return expression(key)


def _sets(node: q.GroupingSets, items: Sequence[q.Item]) -> exp.Expr:
    written = [[_group_key(key, items) for key in one] for one in node.sets]
    sets: list[exp.Expr] = [one[0] if len(one) == 1 else exp.Tuple(expressions=one) for one in written]
    forms = {"GROUPING SETS": exp.GroupingSets, "ROLLUP": exp.Rollup, "CUBE": exp.Cube}
    return forms[node.kind](expressions=sets)


def _item(node: q.Item) -> exp.Expr:
    made = expression(node.value)
    # Most columns of most queries keep their names, and engines take long to read their aliases.
    if node.name is None or (isinstance(node.value, e.Column) and node.value.name == node.name):
        return made
    return exp.Alias(this=made, alias=identifier(node.name))


def _ending(node: q.Select | q.Compound) -> dict[str, Any]:
    """Return the clauses around a query: its steps, order and limit."""
    return {
        "with_": steps(node.steps, recursive=node.recursive) if node.steps else None,
        "order": _order(node.order_by),
        "limit": None if node.limit is None else exp.Limit(expression=expression(node.limit)),
        "offset": None if node.offset is None else exp.Offset(expression=expression(node.offset)),
    }


def steps(nodes: Sequence[q.CommonTable], *, recursive: bool) -> exp.With:
    """Return the WITH clause of a query."""
    return exp.With(expressions=[_step(one) for one in nodes], recursive=recursive)


def _step(node: q.CommonTable) -> exp.CTE:
    alias = exp.TableAlias(this=identifier(node.name), columns=[identifier(name) for name in node.columns])
    keys = [_item(one) for one in node.keys]
    return exp.CTE(this=query(node.query), alias=alias, materialized=node.materialized, key_expressions=keys)


def _select(node: q.Select) -> exp.Select:
    return exp.Select(
        expressions=[_item(one) for one in node.items],
        from_=None if node.source is None else exp.From(this=_source(node.source)),
        joins=[_join(one) for one in node.joins],
        where=None if node.where is None else exp.Where(this=expression(node.where)),
        group=None if node.group is None else _group(node.group, node.items),
        having=None if node.having is None else exp.Having(this=expression(node.having)),
        qualify=None if node.qualify is None else exp.Qualify(this=expression(node.qualify)),
        distinct=exp.Distinct() if node.distinct else None,
        **_ending(node),
    )


def _compound(node: Query) -> exp.Expr:
    assert isinstance(node, q.Compound)
    first, *others = node.parts
    tree = _side(first)
    for one in others:
        tree = _COMPOUNDS[node.operator](this=tree, expression=_side(one), distinct=not node.all)
    for name, value in _ending(node).items():
        tree.set(name, value)
    return tree


def _side(node: Query) -> exp.Expr:
    """Return an operand of a compound; one with an order or steps of its own becomes a subquery in FROM."""
    if isinstance(node, q.Select) and not (node.order_by or node.limit or node.offset or node.steps):
        return _select(node)
    inner = exp.Subquery(this=query(node), alias=exp.TableAlias(this=identifier("side")))
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=inner))
