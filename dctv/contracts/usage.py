"""Write the usage of table-valued functions, such as `clip(table, start=>NULL)`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dctv.contracts.table_function import REQUIRED, Parameter, Quantity


def usage(name: str, parameters: Sequence[Parameter]) -> str:
    """Return the usage of a function; arguments after `*` are given by name."""
    return f"{name}({', '.join(_written(parameters))})"


def _written(parameters: Sequence[Parameter]) -> Iterator[str]:
    starred = False
    for one in parameters:
        if one.keyword_only and not starred:
            starred = True
            yield "*"
        yield one.name if one.default is REQUIRED else f"{one.name}=>{_value(one.default)}"


def _value(value: object) -> str:
    match value:
        case None:
            return "NULL"
        case str():
            return f"'{value}'"
        case Quantity():
            return f"{float(value.value):g}{value.unit}"
        case _:
            return str(value).upper()
