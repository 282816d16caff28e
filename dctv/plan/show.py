"""Write expressions and queries as readable text, for the engine's parts in EXPLAIN."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from dctv.plan import expressions as e
from dctv.plan import queries as q
from dctv.plan.node import Query

_OR, _AND, _NOT, _COMPARISON, _BITS, _SUM, _PRODUCT, _PREFIX, _ATOM = range(9)
_STRENGTHS = {
    **dict.fromkeys(e.COMPARISONS, _COMPARISON),
    **dict.fromkeys(("||", "&", "|", "<<", ">>"), _BITS),
    **dict.fromkeys(("+", "-"), _SUM),
    **dict.fromkeys(("*", "/", "//", "%"), _PRODUCT),
}
_SAFE = {"<=>": "IS", "<!=>": "IS NOT"}
_INDENT = "  "


def expression(node: e.Expression) -> str:
    """Write an expression with no more parentheses than it needs."""
    return _FORMS[type(node)](node)


def _nested(node: e.Expression, least: int) -> str:
    """Write an expression, in parentheses where it binds less tightly than its surroundings need."""
    written = expression(node)
    return f"({written})" if _strength(node) < least else written


def _strength(node: e.Expression) -> int:
    match node:
        case e.Or():
            return _OR
        case e.And():
            return _AND
        case e.Unary(operator):
            return _NOT if operator == "NOT" else _PREFIX
        case e.Binary(operator):
            return _STRENGTHS[operator]
        case e.IsNull() | e.Like() | e.Between() | e.InList() | e.InQuery():
            return _COMPARISON
        case _:
            return _ATOM


_SHOWN, _MOST = 2, 30
"""The number of items of a list that are shown, if it has more than so many."""


def _list(nodes: Iterable[e.Expression]) -> str:
    return ", ".join(map(expression, nodes))


def _array(node: e.List) -> str:
    items = node.items
    if len(items) <= _MOST:
        return f"[{_list(items)}]"
    return f"[{_list(items[:_SHOWN])}, and {len(items) - _SHOWN:,} more]"


def _unary(node: e.Unary) -> str:
    if node.operator != "NOT":
        return f"{node.operator}{_nested(node.operand, _ATOM)}"
    if isinstance(node.operand, e.IsNull):
        return f"{_nested(node.operand.operand, _BITS)} IS NOT NULL"
    return f"NOT {_nested(node.operand, _NOT)}"


def _binary(node: e.Binary) -> str:
    strength = _STRENGTHS[node.operator]
    operator = _SAFE.get(node.operator, node.operator)
    # Chains of one strength go from left to right; comparisons make none.
    left = strength + (strength == _COMPARISON)
    return f"{_nested(node.left, left)} {operator} {_nested(node.right, strength + 1)}"


def _like(node: e.Like) -> str:
    escape = "" if node.escape is None else f" ESCAPE {_nested(node.escape, _BITS)}"
    return f"{_nested(node.operand, _BITS)} {node.operator} {_nested(node.pattern, _BITS)}{escape}"


def _between(node: e.Between) -> str:
    return f"{_nested(node.operand, _BITS)} BETWEEN {_nested(node.low, _BITS)} AND {_nested(node.high, _BITS)}"


def _case(node: e.Case) -> str:
    operand = "" if node.operand is None else f" {expression(node.operand)}"
    branches = "".join(f" WHEN {expression(test)} THEN {expression(value)}" for test, value in node.branches)
    default = "" if node.default is None else f" ELSE {expression(node.default)}"
    return f"CASE{operand}{branches}{default} END"


def _call(node: e.Call) -> str:
    inside = ("DISTINCT " if node.distinct else "") + _list(node.arguments)
    if node.order_by:
        inside += f" ORDER BY {_list(node.order_by)}"
    if node.nulls is not None:
        inside += f" {node.nulls} NULLS"
    test = "" if node.filter is None else f" FILTER (WHERE {expression(node.filter)})"
    return f"{node.function}({inside}){test}"


def _window(node: e.Window) -> str:
    parts = []
    if node.partition_by:
        parts.append(f"PARTITION BY {_list(node.partition_by)}")
    if node.order_by:
        parts.append(f"ORDER BY {_list(node.order_by)}")
    if node.frame is not None:
        parts.append(f"{node.frame.unit} BETWEEN {_end(node.frame.start)} AND {_end(node.frame.stop)}")
        if node.frame.exclude is not None:
            parts.append(f"EXCLUDE {node.frame.exclude}")
    return f"{_call(node.call)} OVER ({' '.join(parts)})"


def _end(node: e.FrameEnd) -> str:
    return node.kind if node.offset is None else f"{expression(node.offset)} {node.kind}"


def _ordered(node: e.Ordered) -> str:
    descending = " DESC" if node.descending else ""
    return f"{expression(node.operand)}{descending}{' NULLS FIRST' if node.nulls_first else ''}"


def _struct(node: e.Struct) -> str:
    members = zip(node.names, node.members, strict=True)
    return "{" + ", ".join(f"{_quoted(name)}: {expression(value)}" for name, value in members) + "}"


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


_FORMS: Mapping[type, Callable[[Any], str]] = {
    e.Column: lambda node: node.name if node.table is None else f"{node.table}.{node.name}",
    e.Star: lambda node: "*" if node.table is None else f"{node.table}.*",
    e.Null: lambda _: "NULL",
    e.Boolean: lambda node: str(node.value).upper(),
    e.Number: lambda node: node.text,
    e.Text: lambda node: _quoted(node.value),
    e.Unary: _unary,
    e.Binary: _binary,
    e.And: lambda node: " AND ".join(_nested(part, _NOT) for part in node.parts),
    e.Or: lambda node: " OR ".join(_nested(part, _AND) for part in node.parts),
    e.IsNull: lambda node: f"{_nested(node.operand, _BITS)} IS NULL",
    e.Like: _like,
    e.Between: _between,
    e.InList: lambda node: f"{_nested(node.operand, _BITS)} IN ({_list(node.items)})",
    e.InQuery: lambda node: f"{_nested(node.operand, _BITS)} {node.words} ({_inline(node.query)})",
    e.Exists: lambda node: f"EXISTS ({_inline(node.query)})",
    e.Subquery: lambda node: f"({_inline(node.query)})",
    e.Case: _case,
    e.Collate: lambda node: f"{_nested(node.operand, _ATOM)} COLLATE {node.collation}",
    e.Cast: lambda node: f"{'TRY_CAST' if node.lenient else 'CAST'}({expression(node.operand)} AS {node.type})",
    e.OfTrace: lambda node: f"the trace's {node.column}",
    e.StartOf: lambda node: f"the start of {_nested(node.trace, _ATOM)}",
    e.Row: lambda node: f"({_list(node.items)})",
    e.List: _array,
    e.Struct: _struct,
    e.Lambda: lambda node: f"({', '.join(node.parameters)}) -> {expression(node.body)}",
    e.Keyword: lambda node: f"{node.name} => {expression(node.value)}",
    e.Ordered: _ordered,
    e.Percent: lambda node: f"{expression(node.operand)} percent",
    e.Call: _call,
    e.State: lambda node: f"{_call(node.call)} EXPORT_STATE",
    e.Window: _window,
}


def _inline(node: Query) -> str:
    return " ".join(line.strip() for line in query(node))


def query(node: Query) -> Iterator[str]:
    """Write a query, a clause a line, with the subqueries of a clause indented below it."""
    assert isinstance(node, q.Select | q.Compound)
    for step in node.steps:
        keys = f" using key ({', '.join(map(_item, step.keys))})" if step.keys else ""
        yield f"with {step.name}{keys}{', computed once' if step.materialized else ''}:"
        yield from _indented(step.query)
    if isinstance(node, q.Select):
        yield from _block(node)
    else:
        yield f"{node.operator.lower()}{' all' if node.all else ''} of"
        for part in node.parts:
            yield from _indented(part)
    if node.order_by:
        yield f"order by {_list(node.order_by)}"
    for word, count in (("limit", node.limit), ("offset", node.offset)):
        if count is not None:
            yield f"{word} {expression(count)}"


def _indented(node: Query) -> Iterator[str]:
    return (_INDENT + line for line in query(node))


def _block(node: q.Select) -> Iterator[str]:
    yield f"select {'distinct ' if node.distinct else ''}{', '.join(map(_item, node.items))}"
    if node.source is not None:
        yield from _source("from ", node.source, "")
    for join in node.joins:
        on = "" if join.on is None else f" on {expression(join.on)}"
        word = f"{'asof ' if join.asof else ''}{'' if join.kind == 'INNER' else f'{join.kind.lower()} '}join "
        yield from _source(word, join.source, on)
    if node.where is not None:
        yield f"where {expression(node.where)}"
    if node.group is not None:
        yield f"group by {'all' if node.group.all else ', '.join(map(_key, node.group.keys))}"
    if node.having is not None:
        yield f"having {expression(node.having)}"
    if node.qualify is not None:
        yield f"qualify {expression(node.qualify)}"


def _item(node: q.Item) -> str:
    written = expression(node.value)
    same = node.name is None or (isinstance(node.value, e.Column) and node.value.name == node.name)
    return written if same else f"{written} AS {node.name}"


def _key(node: e.Expression | q.GroupingSets) -> str:
    if isinstance(node, e.Expression):
        return expression(node)
    return f"{node.kind} ({', '.join(f'({_list(one)})' for one in node.sets)})"


def _source(word: str, node: q.FromItem, more: str) -> Iterator[str]:
    """Write a source: a table or a call in the line of its clause, a query below it."""
    names = f"({', '.join(node.columns)})" if node.columns else ""
    alias = f" AS {node.alias}{names}" if node.alias else ""
    match node:
        case q.TableName(name, recurring=True):
            yield f"{word}recurring.{name}{alias}{more}"
        case q.TableName(name):
            yield f"{word}{name}{'' if node.alias == name and not names else alias}{more}"
        case q.TableCall(call):
            yield f"{word}{expression(call)}{alias}{more}"
        case q.Rows(rows):
            yield f"{word}{len(rows)} row{'s' * (len(rows) != 1)}{alias}{more}"
        case q.Derived(inner):
            yield f"{word}a query{alias}{more}"
            yield from _indented(inner)
