"""Find the usage of functions, macros and clocks of traces by name."""

from __future__ import annotations

from dctv.catalog.namespace import Catalog, Macro, WallClock
from dctv.contracts import usage as of_tables
from dctv.contracts.table_function import TableFunction
from dctv.signatures import usages
from dctv.syntax.print import to_sql


def usage(name: str, catalog: Catalog) -> str:
    """Return the usage of a function, by its dotted name; empty if there is none."""
    match catalog.find(tuple(name.split("."))):
        case (TableFunction(parameters=parameters), _):
            return of_tables.usage(name, parameters)
        case (Macro(parameters=defaults), _):
            shown = [one if default is None else f"{one} => {to_sql(default)}" for one, default in defaults.items()]
            return f"{name}({', '.join(shown)})"
        case (WallClock(starts=starts), _):
            return f"{name}(time{'' if starts is None else ', trace => _trace'}) -> TIMESTAMP"
        case _:
            return usages.usage(name.lower())
