"""Run SHOW FUNCTIONS, SHOW UNITS and SHOW MOUNTS."""

from __future__ import annotations

from dctv.catalog.namespace import Macro, WallClock
from dctv.completion import by_use
from dctv.run.context import ExecutionContext
from dctv.run.listing import listing
from dctv.run.plans import rows_of
from dctv.run.result import Result
from dctv.run.usage import usage
from dctv.syntax import commands
from dctv.types.units import base_unit, known_units, parse_unit


def show(statement: commands.Show, context: ExecutionContext) -> Result:
    """Run SHOW: return a list as rows."""
    names: tuple[str, ...]
    match statement.what:
        case "FUNCTIONS":
            names, rows = ("name", "kind", "usage", "about"), [_function(name, context) for name in functions(context)]
        case "UNITS":
            units = by_use(known_units())
            names, rows = ("unit", "is"), [[one, _in_base_units(one)] for one in units]
        case "MOUNTS":
            mounts = context.mounts.values()
            names, rows = ("name", "format", "path"), [[".".join(one.parts), one.reader, one.path] for one in mounts]
            rows += [[".".join(parts), f"{one.count} traces", one.pattern] for parts, one in context.fleets.items()]
    return rows_of(dict.fromkeys(names, "VARCHAR"), rows, context)


def functions(context: ExecutionContext) -> list[str]:
    """Return the names of scalar, aggregate and window functions, of macros of values, and of clocks of traces."""
    named = [n for n in context.engine.functions() if n[0].isalpha()]
    own = [".".join(parts) for parts, entry in context.catalog.root.walk() if isinstance(entry, Macro | WallClock)]
    tables = {one.name for one in listing((), context.catalog) if one.kind == "table macro"}
    return sorted({*named, *context.registries.rules, *own} - tables)


def _function(name: str, context: ExecutionContext) -> list[object]:
    rule = context.registries.rules.get(name)
    entry, _ = context.catalog.find(tuple(name.split("."))) or (None, ())
    kind = (
        "macro" if isinstance(entry, Macro) else rule.kind if rule else context.engine.functions().get(name, "scalar")
    )
    return [name, kind, usage(name, context.catalog), rule.doc if rule else ""]


def _in_base_units(unit: str) -> str:
    found = parse_unit(unit)
    return f"{float(found.factor):g} {base_unit(found)}"
