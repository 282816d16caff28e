"""Put data of a program into tables of the namespace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dctv.bind.binder import Binder
from dctv.catalog.mount import check_name
from dctv.catalog.namespace import StoredTable
from dctv.catalog.program_data import scan_of, stored
from dctv.contracts.table_function import REQUIRED, Argument, TableFunction
from dctv.errors import UsageError
from dctv.plan.nodes import Scan
from dctv.record import field, record
from dctv.run.context import ExecutionContext
from dctv.run.plans import environment, result_of
from dctv.syntax import ast
from dctv.types.schema import Kind

_MAKERS = {Kind.SPAN.value: "as_spans", Kind.EVENT.value: "as_events"}
"""The functions that convert regular tables, by kind."""


@record
class GivenTable:
    """A table that a program has."""

    name: str
    data: object
    """A pyarrow Table or Dataset, a pandas or polars frame, or a dict of columns."""
    kind: str
    partitions: Sequence[str] = ()
    units: Mapping[str, str] = field(default_factory=dict)


def add_table(given: GivenTable, context: ExecutionContext) -> None:
    """Give data a name in SQL; events and spans are checked and sorted.

    Raises:
        UsageError: it is not a table, or its kind does not exist.
        BindError: the name is taken, or a column is missing.
        EngineError: the spans overlap, or a time is impossible.
    """
    parts = check_name(context.catalog, ast.Path.of(given.name))
    scan = scan_of(given.name, given.data, given.units, context.engine)
    if given.kind != Kind.REGULAR.value:
        if given.kind not in _MAKERS:
            raise UsageError(f"the kind of a table is regular, event or span, found `{given.kind}`")
        scan = _checked(scan, context.registries.functions[_MAKERS[given.kind]], given, context)
    context.catalog.add(parts, StoredTable(lambda: scan, "a table of the program", own=True))


def _checked(scan: Scan, function: TableFunction, given: GivenTable, context: ExecutionContext) -> Scan:
    """Return a scan of a table converted by a function."""
    arguments = {p.name: Argument(None if p.default is REQUIRED else p.default, None) for p in function.parameters}
    arguments["table"] = Argument(scan, None)
    arguments["partition"] = Argument([Argument(name, None) for name in given.partitions], None)
    plan = function.bind(arguments, Binder(environment(context)))
    return stored(given.name, plan.schema, result_of(plan, context, here=True).arrow())
