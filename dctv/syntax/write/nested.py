"""Write lists, structs and maps, and access to their parts."""

from __future__ import annotations

from dctv.syntax import ast
from dctv.syntax.write.levels import POSTFIX
from dctv.syntax.write.writer import Form, NodeWriter

_DOTTED = (ast.List, ast.Struct, ast.Map, ast.Call, ast.Index, ast.Slice, ast.Member)
"""Nodes that a dot may follow: after others it would belong to a longer name or to a number."""


def _list(w: NodeWriter, node: ast.List) -> str:
    return f"[{w.list(node.items)}]"


def _struct(w: NodeWriter, node: ast.Struct) -> str:
    return "{" + ", ".join(f"{w.name(name)}: {w.expr(value)}" for name, value in node.items) + "}"


def _map(w: NodeWriter, node: ast.Map) -> str:
    return "MAP {" + ", ".join(f"{w.expr(key)}: {w.expr(value)}" for key, value in node.items) + "}"


def _lambda(w: NodeWriter, node: ast.Lambda) -> str:
    return f"lambda {', '.join(map(w.name, node.parameters))}: {w.expr(node.body)}"


def _index(w: NodeWriter, node: ast.Index) -> str:
    return f"{w.expr(node.operand, POSTFIX)}[{w.expr(node.index)}]"


def _slice(w: NodeWriter, node: ast.Slice) -> str:
    parts = [node.start, node.stop, *([] if node.step is None else [node.step])]
    # A letter right after a colon would begin a parameter.
    inside = (":" if w.header else " : ").join("" if part is None else w.expr(part) for part in parts)
    return f"{w.expr(node.operand, POSTFIX)}[{inside.strip()}]"


def _member(w: NodeWriter, node: ast.Member) -> str:
    operand = w.write(node.operand)
    return f"{operand if isinstance(node.operand, _DOTTED) else f'({operand})'}.{w.name(node.name)}"


FORMS: dict[type[ast.Node], Form] = {
    ast.List: _list,
    ast.Struct: _struct,
    ast.Map: _map,
    ast.Lambda: _lambda,
    ast.Index: _index,
    ast.Slice: _slice,
    ast.Member: _member,
}
