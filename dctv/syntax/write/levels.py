"""Precedences of the forms of expressions, loosest first."""

from __future__ import annotations

from dctv.syntax import ast

OR, AND, NOT, COMPARISON, RANGE, BIT_OR, BIT_AND, SHIFT, SUM, PRODUCT, PREFIX, POSTFIX, ATOM = range(13)

_OPERATORS: dict[str, int] = {
    **dict.fromkeys(("=", "!=", "<", "<=", ">", ">=", "<=>", "<!=>"), COMPARISON),
    "|": BIT_OR,
    "&": BIT_AND,
    **dict.fromkeys(("<<", ">>"), SHIFT),
    **dict.fromkeys(("+", "-", "||"), SUM),
    **dict.fromkeys(("*", "/", "%", "//"), PRODUCT),
    **dict.fromkeys(("->", "->>"), POSTFIX),
}
_FORMS: dict[type[ast.Expr], int] = {
    **dict.fromkeys((ast.Like, ast.Truth, ast.InList, ast.InSelect, ast.Quantified, ast.InUnit), COMPARISON),
    ast.Between: RANGE,
    **dict.fromkeys((ast.Collate, ast.Index, ast.Slice, ast.Member), POSTFIX),
}


def level(node: ast.Expr) -> int:
    """Return the precedence of an expression."""
    match node:
        case ast.Binary(op=op):
            return _OPERATORS[op]
        case ast.Logical(op=op):
            return OR if op == "OR" else AND
        case ast.Unary(op=op):
            return NOT if op == "NOT" else PREFIX
        case _:
            return _FORMS.get(type(node), ATOM)
