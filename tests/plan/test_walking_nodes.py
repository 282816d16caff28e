"""Nodes are found wherever they stand, changed without touching the rest, and are what they say."""

from __future__ import annotations

import copy

from dctv.plan import build as w
from dctv.plan.canonical_text import shape
from dctv.plan.expressions import NULL, And, Binary, Call, Column, Exists, Number, Or, Ordered, Star, Subquery
from dctv.plan.node import Node
from dctv.plan.queries import Item, TableName
from dctv.plan.walk import columns_in, is_single, nested, own, replaced, walk

INNER = w.where(w.select("k", source="u"), w.equal(Column("k"), Column("a", "x")))
QUERY = w.sorted_by(
    w.grouped(
        w.join(
            w.where(
                w.select("a", Item(Call("sum", (Column("b", "x"),)), "total"), source="t", alias="x"),
                Exists(INNER),
                w.greater(Column("c", "x"), w.number(-1)),
            ),
            "v",
            "y",
            [w.equal(Column("a", "x"), Column("d", "y"))],
        ),
        [Column("a", "x")],
    ),
    Column("total"),
)


def test_all_that_is_within_is_found() -> None:
    names = {column.name for column in columns_in(QUERY)}
    assert names == {"a", "b", "c", "d", "k", "total"}
    assert {node.name for node in walk(QUERY) if isinstance(node, TableName)} == {"t", "u", "v"}


def test_nested_queries_are_distinguished() -> None:
    assert nested(QUERY) == [INNER]
    assert {node.name for node in own(QUERY) if isinstance(node, Column)} == {"a", "b", "c", "d", "total"}
    assert is_single(INNER)
    assert not is_single(QUERY)
    assert not is_single(w.concatenated([INNER, INNER]))


def test_unchanged_nodes_stay_the_same_object() -> None:
    def renamed(node: Node) -> Node | None:
        return Column("e", "y") if node == Column("d", "y") else None

    made = replaced(QUERY, renamed)
    assert {column.name for column in columns_in(made)} == {"a", "b", "c", "e", "k", "total"}
    assert made.where is QUERY.where
    assert made.items is QUERY.items
    assert replaced(QUERY, lambda _: None) is QUERY


def test_replaced_nodes_are_not_visited_again() -> None:
    start: Node = Column("a")
    doubled = replaced(start, lambda node: Binary("+", node, node) if isinstance(node, Column) else None)
    assert doubled == Binary("+", Column("a"), Column("a"))


def test_conditions_are_flat() -> None:
    a, b, c = Column("a"), Column("b"), Column("c")
    assert w.all_of([a, And((b, c))]) == And((a, b, c))
    assert w.any_of([Or((a, b)), c]) == Or((a, b, c))
    assert w.all_of([And((a, b)), Or((b, c))]) == And((a, b, Or((b, c))))
    assert w.all_of([]) is None
    assert w.all_of([a]) is a


def test_nodes_are_compared_by_value() -> None:
    again = copy.deepcopy(QUERY)
    assert again == QUERY
    assert hash(again) == hash(QUERY)
    assert shape(again) == shape(QUERY)
    assert again is not QUERY
    others = [
        Subquery(INNER),
        Exists(INNER),
        Star(),
        Star("x"),
        NULL,
        Number("1"),
        Ordered(NULL),
        Ordered(NULL, descending=True),
    ]
    assert len(set(others)) == len({shape(one) for one in others}) == len(others)
