"""Match the columns of UNION BY NAME."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.bind.bound import Bound
from dctv.bind.context import BoundColumn, BoundQuery
from dctv.bind.relations import names_of
from dctv.bind.select_cores import OutputColumn, output
from dctv.bind.spellings import fitting
from dctv.bind.types import NULL as NULL_TYPE
from dctv.errors import BindError
from dctv.plan import build as w
from dctv.plan.expressions import NULL, Column
from dctv.plan.nodes import unique_names
from dctv.plan.queries import Item
from dctv.record import replace
from dctv.syntax import ast


def matched(node: ast.Compound, left: BoundQuery, right: BoundQuery) -> tuple[BoundQuery, BoundQuery]:
    """Return both sides with the columns of the left one and then those that only the right one has.

    A column that a side lacks is NULL in it.

    Raises:
        BindError: the operator is not UNION, or a side has two columns with one name.
    """
    if node.op != "UNION":
        raise BindError(f"{node.op} matches columns by position, only UNION has BY NAME", node.place)
    names, others = ([out.name for out in side.outs] for side in (left, right))
    for side in (names, others):
        twice = next((name for name in side if len(fitting(side, name)) > 1), None)
        if twice is not None:
            raise BindError(
                f"UNION BY NAME needs different names, found two columns `{twice}`",
                node.place,
                hint="give each its own name with AS",
            )
    places = _places(names, others)
    added = [index for index in range(len(others)) if index not in places]
    names += [others[index] for index in added]
    lefts = [*range(len(left.outs)), *(None for _ in added)]
    return _arranged(left, names, lefts), _arranged(right, names, [*places, *added])


def _places(names: Sequence[str], others: Sequence[str]) -> list[int | None]:
    """Return which of the other side's columns each column is; names that are written alike come first."""
    exact = [others.index(name) if name in others else None for name in names]
    taken = {index for index in exact if index is not None}
    places: list[int | None] = []
    for name, found in zip(names, exact, strict=True):
        near = [index for index in fitting(others, name) if index not in taken] if found is None else [found]
        taken.update(near[:1])
        places.append(near[0] if near else None)
    return places


def _arranged(query: BoundQuery, names: Sequence[str], places: Sequence[int | None]) -> BoundQuery:
    """Return the query with columns from these places, under these names."""
    if [*places] == [*range(len(query.outs))]:
        return replace(query, outs=tuple(replace(out, name=name) for out, name in zip(query.outs, names, strict=True)))
    physical = names_of(query.outs)
    columns: list[Item] = []
    outs: list[BoundColumn] = []
    for name, result, place in zip(names, unique_names(names), places, strict=True):
        if place is None:
            columns.append(Item(NULL, result))
            outs.append(output(OutputColumn(name, Bound(NULL, type=NULL_TYPE)), any_unit=True))
        else:
            columns.append(Item(Column(physical[place], "side"), result))
            outs.append(replace(query.outs[place], name=name))
    made = w.select(*columns, source=query.query, alias="side")
    return BoundQuery(made, tuple(outs), query.parts, sure=query.sure, serial=query.serial)
