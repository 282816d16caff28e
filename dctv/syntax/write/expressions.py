"""Write expressions."""

from __future__ import annotations

from dctv.patterns import pattern
from dctv.syntax import ast
from dctv.syntax.keywords import RESERVED
from dctv.syntax.write.levels import BIT_OR, COMPARISON, NOT, POSTFIX, PREFIX, RANGE, level
from dctv.syntax.write.writer import Form, NodeWriter, backticks, string
from dctv.types.values import brackets

_BARE_UNIT = pattern(r"[^\W\d_]\w*")
_LIKE_DIGITS = pattern(r"[eE][0-9]|[xX][0-9A-Fa-f]")


def _number(w: NodeWriter, node: ast.Number) -> str:
    if node.unit is None or w.header:
        return node.text
    bare = _BARE_UNIT.fullmatch(node.unit) and not _LIKE_DIGITS.match(node.unit) and node.text[:2].lower() != "0x"
    return node.text + (node.unit if bare else backticks(node.unit))


def _string(_w: NodeWriter, node: ast.String) -> str:
    return string(node.text)


def _interval(_w: NodeWriter, node: ast.Interval) -> str:
    return f"INTERVAL {string(node.text)}"


def _constant(_w: NodeWriter, node: ast.Constant) -> str:
    return "NULL" if node.value is None else str(node.value).upper()


def _bind(_w: NodeWriter, node: ast.Bind) -> str:
    if isinstance(node.key, int):
        return f"?{node.key}"
    return node.key if node.key.startswith("$") else f":{node.key}"


def _column(w: NodeWriter, node: ast.Column) -> str:
    return w.path(node.path)


def _star(w: NodeWriter, node: ast.Star) -> str:
    text = "*" if node.qualifier is None else f"{w.path(node.qualifier)}.*"
    if node.exclude:
        text += f" EXCLUDE ({', '.join(map(w.path, node.exclude))})"
    if node.replace:
        text += f" REPLACE ({', '.join(f'{w.expr(expr)} AS {w.name(name)}' for expr, name in node.replace)})"
    if node.rename:
        text += f" RENAME ({', '.join(f'{w.path(old)} AS {w.name(new)}' for old, new in node.rename)})"
    if node.choice is not None:
        text += f" {'NOT ' * node.choice.negated}{node.choice.op} {string(node.choice.pattern)}"
        text += f" ESCAPE {string(node.choice.escape)}" if node.choice.escape else ""
    return text


def _columns(w: NodeWriter, node: ast.Columns) -> str:
    qualifier = "" if node.qualifier is None else f"{w.path(node.qualifier)}."
    return f"{'*' * node.spread}{qualifier}COLUMNS({w.expr(node.choice)})"


def _unary(w: NodeWriter, node: ast.Unary) -> str:
    if node.op == "NOT":
        return f"NOT {w.expr(node.operand, NOT)}"
    operand = w.expr(node.operand, PREFIX)
    blank = " " if operand.startswith(("-", "~")) else ""
    return f"{node.op}{blank}{operand}"


def _binary(w: NodeWriter, node: ast.Binary) -> str:
    op: str = node.op
    if isinstance(node.right, ast.Constant) and node.right.value is None and op in {"<=>", "<!=>"}:
        op = "IS" if op == "<=>" else "IS NOT"
    tightness = level(node)
    return f"{w.expr(node.left, tightness)} {op} {w.expr(node.right, tightness + 1)}"


def _logical(w: NodeWriter, node: ast.Logical) -> str:
    tightness = level(node)
    return f" {node.op} ".join(w.expr(one, tightness + 1) for one in node.operands)


def _truth(w: NodeWriter, node: ast.Truth) -> str:
    text = f"{w.expr(node.operand, COMPARISON)} IS {'NOT ' * node.negated}{str(node.value).upper()}"
    return f"({text})" if w.header else text


def _not(node: ast.Like | ast.Between | ast.InList | ast.InSelect) -> str:
    return "NOT " if node.negated else ""


def _like(w: NodeWriter, node: ast.Like) -> str:
    escape = "" if node.escape is None else f" ESCAPE {w.expr(node.escape, RANGE)}"
    return f"{w.expr(node.operand, COMPARISON)} {_not(node)}{node.op} {w.expr(node.pattern, RANGE)}{escape}"


def _between(w: NodeWriter, node: ast.Between) -> str:
    low, high = w.expr(node.low, BIT_OR), w.expr(node.high, BIT_OR)
    return f"{w.expr(node.operand, RANGE)} {_not(node)}BETWEEN {low} AND {high}"


def _in_list(w: NodeWriter, node: ast.InList) -> str:
    lone_select = len(node.items) == 1 and isinstance(node.items[0], ast.ScalarSelect)
    comma = "," if lone_select else ""
    return f"{w.expr(node.operand, COMPARISON)} {_not(node)}IN ({w.list(node.items)}{comma})"


def _in_select(w: NodeWriter, node: ast.InSelect) -> str:
    return f"{w.expr(node.operand, COMPARISON)} {_not(node)}IN ({w.write(node.select)})"


def _quantified(w: NodeWriter, node: ast.Quantified) -> str:
    word = "ALL" if node.every else "ANY"
    return f"{w.expr(node.operand, COMPARISON)} {node.op} {word} ({w.write(node.select)})"


def _in_unit(w: NodeWriter, node: ast.InUnit) -> str:
    bare = w.header or (_BARE_UNIT.fullmatch(node.unit) and node.unit.upper() not in RESERVED)
    return f"{w.expr(node.operand, COMPARISON)} IN {node.unit if bare else backticks(node.unit)}"


def _percent(w: NodeWriter, node: ast.Percent) -> str:
    return f"{w.expr(node.operand)} PERCENT"


def _case(w: NodeWriter, node: ast.Case) -> str:
    operand = "" if node.operand is None else f" {w.expr(node.operand)}"
    branches = "".join(f" WHEN {w.expr(a)} THEN {w.expr(b)}" for a, b in node.branches)
    return f"CASE{operand}{branches}{w.clause('ELSE', node.otherwise)} END"


def _cast(w: NodeWriter, node: ast.Cast) -> str:
    return f"{'TRY_CAST' if node.lenient else 'CAST'}({w.expr(node.operand)} AS {w.write(node.type)})"


def _type_name(w: NodeWriter, node: ast.TypeName) -> str:
    arguments = f"({', '.join(map(str, node.arguments))})" if node.arguments else ""
    if node.members:
        written = [("" if name is None else f"{w.name(name)} ") + w.write(kind) for name, kind in node.members]
        arguments = f"({', '.join(written)})"
    if node.labels:
        arguments = f"({', '.join(map(string, node.labels))})"
    return node.name + arguments + brackets(node.dimensions)


def _collate(w: NodeWriter, node: ast.Collate) -> str:
    return f"{w.expr(node.operand, POSTFIX)} COLLATE {w.path(node.collation)}"


def _exists(w: NodeWriter, node: ast.Exists) -> str:
    return f"EXISTS ({w.write(node.select)})"


def _scalar_select(w: NodeWriter, node: ast.ScalarSelect) -> str:
    return f"({w.write(node.select)})"


def _row(w: NodeWriter, node: ast.Row) -> str:
    return f"({w.list(node.items)}{',' if len(node.items) == 1 else ''})"


def _call(w: NodeWriter, node: ast.Call) -> str:
    star = w.header and node.arguments == (ast.Star(),)
    arguments = "" if star else w.list(node.arguments)
    keywords = [f"{w.name(name)} => {w.expr(value)}" for name, value in node.keywords]
    inside = ", ".join(filter(None, [arguments, *keywords]))
    distinct = "DISTINCT " if node.distinct else ""
    text = f"{w.path(node.function)}({distinct}{inside}{w.clauses('ORDER BY', node.order_by)})"
    if node.filter is not None:
        text += f" FILTER (WHERE {w.expr(node.filter)})"
    if node.nulls is not None:
        text += f" {node.nulls} NULLS"
    if node.exported:
        return f"{text} EXPORT_STATE"
    if isinstance(node.over, ast.Name):
        return f"{text} OVER {w.window_name(node.over)}"
    return f"{text} OVER {w.write(node.over)}" if node.over is not None else text


def _window(w: NodeWriter, node: ast.Window) -> str:
    base = "" if node.base is None else f" {w.window_name(node.base)}"
    partition = w.clauses("PARTITION BY", node.partition_by)
    frame = "" if node.frame is None else f" {w.write(node.frame)}"
    return f"({(base + partition + w.clauses('ORDER BY', node.order_by) + frame).strip()})"


def _frame(w: NodeWriter, node: ast.Frame) -> str:
    exclude = "" if node.exclude is None else f" EXCLUDE {node.exclude}"
    if node.stop is None:
        return f"{node.unit} {w.write(node.start)}{exclude}"
    return f"{node.unit} BETWEEN {w.write(node.start)} AND {w.write(node.stop)}{exclude}"


def _bound(w: NodeWriter, node: ast.Bound) -> str:
    return node.kind if node.offset is None else f"{w.expr(node.offset, BIT_OR)} {node.kind}"


def _order_term(w: NodeWriter, node: ast.OrderTerm) -> str:
    nulls = "" if node.nulls is None else f" NULLS {node.nulls}"
    expr = "ALL" if isinstance(node.expr, ast.Star) else w.expr(node.expr)
    return f"{expr}{' DESC' if node.descending else ''}{nulls}"


FORMS: dict[type[ast.Node], Form] = {
    ast.Number: _number,
    ast.String: _string,
    ast.Interval: _interval,
    ast.Constant: _constant,
    ast.Bind: _bind,
    ast.Column: _column,
    ast.Star: _star,
    ast.Columns: _columns,
    ast.Unary: _unary,
    ast.Binary: _binary,
    ast.Logical: _logical,
    ast.Like: _like,
    ast.Between: _between,
    ast.InList: _in_list,
    ast.InSelect: _in_select,
    ast.Quantified: _quantified,
    ast.InUnit: _in_unit,
    ast.Percent: _percent,
    ast.Case: _case,
    ast.Cast: _cast,
    ast.TypeName: _type_name,
    ast.Collate: _collate,
    ast.Truth: _truth,
    ast.Exists: _exists,
    ast.ScalarSelect: _scalar_select,
    ast.Row: _row,
    ast.Call: _call,
    ast.Window: _window,
    ast.Frame: _frame,
    ast.Bound: _bound,
    ast.OrderTerm: _order_term,
}
