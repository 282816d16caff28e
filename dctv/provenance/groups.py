"""Groups named on the command line to a function that tells the group of each event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from dctv.bind.filters import EventTable, FilterBinder, Times
from dctv.contracts.engine import Engine
from dctv.contracts.reader import TraceTable
from dctv.errors import UsageError, WarningLog
from dctv.plan.sql import aliased, number, table
from dctv.provenance.database import Group
from dctv.provenance.split import REST
from dctv.syntax.filter import Filter

if TYPE_CHECKING:
    import numpy as np


def groups_of(predicates: Mapping[str, str]) -> list[Group]:
    """Return groups by name, the rest as the last one.

    Raises:
        UsageError: a name cannot be the name of a file.
    """
    for name in predicates:
        if name == REST:
            raise UsageError(f"the group `{REST}` is what no other group takes", hint="choose another name")
        if not name or name != name.strip() or not all(c.isalnum() or c in "-_." for c in name) or name[0] == ".":
            raise UsageError(f"`{name}` cannot be a group's name", hint="use letters, digits, `-`, `_` and `.`")
    named = [Group(number, name, text) for number, (name, text) in enumerate(predicates.items())]
    return [*named, Group(len(named), REST, "")]


@dataclass(frozen=True, slots=True)
class _Choice:
    """How the events of one table are told apart: by a query over them, or all are of one group."""

    query: str | None
    group: int


class Grouping:
    """Tells the group of each event: the first one whose predicate is true for it."""

    def __init__(
        self, filters: Sequence[Filter], tables: Mapping[str, TraceTable], times: Times, engine: Engine
    ) -> None:
        """Bind the predicates to every table of events.

        Raises:
            QueryError: a predicate does not fit the trace.
        """
        self._engine = engine
        self._rest = len(filters)
        binders = [FilterBinder(tree, times) for tree in filters]
        self._choices: dict[str, _Choice] = {}
        for name, one in tables.items():
            if one.event is not None:
                conditions = [binder.condition(EventTable(one.schema, one.event)) for binder in binders]
                self._choices[name] = _choice(conditions)
        self.warnings = WarningLog()
        for binder in binders:
            binder.conclude(self.warnings)

    def __call__(self, name: str, rows: Any) -> np.ndarray[Any, Any]:
        """Return for each row of a table the number of its group, uint16."""
        import numpy as np
        import pyarrow as pa

        choice = self._choices[name]
        if choice.query is None:
            return np.full(rows.num_rows, choice.group, np.uint16)
        source = pa.Table.from_batches([rows])
        stream = pa.RecordBatchReader.from_stream(self._engine.stream(choice.query, {"rows": source}, serial=True))
        found: np.ndarray[Any, Any] = stream.read_all().column(0).to_numpy().astype(np.uint16)
        if len(found) != rows.num_rows:
            raise AssertionError("a row has lost its group")
        return found


def _choice(conditions: Sequence[exp.Expr | bool]) -> _Choice:
    """Return the first true condition's place as a query, or as it is where no row is needed to tell."""
    case = exp.Case()
    for place, condition in enumerate(conditions):
        if condition is True:
            if not case.args.get("ifs"):
                return _Choice(None, place)
            return _Choice(_query(case, place), place)
        if condition is not False:
            case = case.when(condition, number(place), copy=False)
    rest = len(conditions)
    return _Choice(_query(case, rest) if case.args.get("ifs") else None, rest)


def _query(case: exp.Case, otherwise: int) -> str:
    select = exp.Select(expressions=[aliased(case.else_(number(otherwise)), "home")]).from_(table("rows"))
    return select.sql(dialect="duckdb")
