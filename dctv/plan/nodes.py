"""The typed logical plan: scans, relational regions, and kernels between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from dctv.plan.node import Query
from dctv.plan.order import RowOrder
from dctv.plan.source import TableSource
from dctv.record import record
from dctv.types.schema import Schema


class ArrowStream(Protocol):
    """Anything that can be opened as an Arrow stream repeatedly."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return an `arrow_array_stream` capsule."""
        ...


@record(eq=False)
class Plan:
    """A table to be computed; two plans are the same table only if they are the same object."""

    schema: Schema
    order: RowOrder
    """In which its rows come without being sorted."""

    @property
    def ordered(self) -> bool:
        """Whether its rows come in order of time."""
        return self.order is RowOrder.TIME

    @property
    def stable(self) -> bool:
        """Whether its rows come in the same order in every run."""
        return self.order >= RowOrder.STABLE


@record(eq=False)
class Scan(Plan):
    """A stored table; its columns are named `physical_names(schema)`."""

    name: str
    source: TableSource
    union: Callable[[], Relation] | None = None
    """Returns the plan of the same rows over other tables; None if there are none."""
    unique: tuple[str, ...] = ()
    """Columns of which no two rows have the same values, if that is known."""


@record(eq=False)
class Relation(Plan):
    """One query for the engine; leaves are plans that it reads under the given table names."""

    query: Query
    leaves: tuple[tuple[str, Plan], ...] = ()
    serial: bool = False
    """Whether its values depend on the order in which rows are met, so that one thread must compute it."""
    unique: tuple[str, ...] = ()
    """Columns of which no two rows have the same values, where the query does not show that."""
    pushed: tuple[str, ...] = ()
    """Its conditions that were written above a span operator, as EXPLAIN shows them."""


SPILL_FOLDER = "spill_folder"


@record(eq=False)
class Kernel(Plan):
    """A registered span operator, run by its compiled sweep over sorted streams."""

    name: str
    """Of the operator, in its registry and in EXPLAIN."""
    inputs: tuple[Plan, ...]
    options: Mapping[str, Any]
    """Options of the sweep; `names` are the engine's names of the output columns. One that needs room for rows has
    SPILL_FOLDER among them, whose value is known when it runs."""
    run: Callable[[list[ArrowStream], Mapping[str, Any], object], ArrowStream]
    """Called with one stream per input, the options and a cancel token."""


def ranked_names(schema: Schema) -> list[str]:
    """Return the engine's names in the order in which rows are sorted: time, partitions, duration, payload."""
    names = physical_names(schema)
    times = len(schema.kind.time_columns)
    return (
        [*names[:1], *names[times : schema.special_count], *names[1:times], *names[schema.special_count :]]
        if times
        else names
    )


def column_names(plan: Plan) -> list[str]:
    """Return the engine's names of a plan's columns."""
    return list(plan.options["names"]) if isinstance(plan, Kernel) else physical_names(plan.schema)


def physical_names(schema: Schema) -> list[str]:
    """Return the names of a plan's columns inside the engine: as shown, made unique without regard to case."""
    return unique_names(schema.names)


def column_types(schema: Schema) -> dict[str, str]:
    """Return the types of a table's columns, by the engine's names."""
    return {name: one.type for name, one in zip(physical_names(schema), schema.columns, strict=True)}


def unique_names(names: Iterable[str]) -> list[str]:
    """Return names with numbers behind those that differ from an earlier one at most in case."""
    names = list(names)
    if len({one.lower() for one in names}) == len(names):
        return names
    seen: set[str] = set()
    made = []
    for one in names:
        name, number = one, 1
        while name.lower() in seen:
            number += 1
            name = f"{one}:{number}"
        seen.add(name.lower())
        made.append(name)
    return made
