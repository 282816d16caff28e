"""Translate names of types, as written in a query, to the engine's."""

from __future__ import annotations

from dctv.catalog.namespace import Catalog, NamedType
from dctv.errors import BindError
from dctv.signatures.structs import struct_type
from dctv.signatures.types import map_of, parse
from dctv.syntax import ast
from dctv.syntax.write.writer import string
from dctv.types.values import brackets, engine_type, is_type


def engine_name(written: ast.TypeName, catalog: Catalog | None) -> str:
    """Return the engine's name of a type, which a catalog may hold; the standard library has none.

    Raises:
        BindError: The type is unknown, or its arguments do not fit; within a struct or map, at its place there.
    """
    try:
        return _plain(written, catalog) + brackets(written.dimensions)
    except BindError as error:
        raise BindError(error.message, error.place or written.place, hint=error.hint) from None


def _plain(written: ast.TypeName, catalog: Catalog | None) -> str:
    if written.labels:
        return _enum(written.labels)
    if written.members:
        parts = [parse(engine_name(kind, catalog)) for _, kind in written.members]
        names = [name.text for name, _ in written.members if name is not None]
        text = (struct_type(names, parts) if names else map_of(*parts)).text
        return text.replace("STRUCT", "UNION", 1) if written.name == "UNION" else text
    found = None if catalog is None or is_type(written.name) else catalog.find((written.name,))
    if found is None or not isinstance(found[0], NamedType):
        return engine_type(written.name, written.arguments, others=_named(catalog))
    if written.arguments:
        raise BindError(f"`{found[1][-1]}` takes no arguments", hint=f"it is {found[0].doc}")
    return found[0].text


def _named(catalog: Catalog | None) -> list[str]:
    entries = {} if catalog is None else catalog.root.entries
    return [name for name, one in entries.items() if isinstance(one, NamedType)]


def _enum(labels: tuple[str, ...]) -> str:
    seen: set[str] = set()
    for one in labels:
        if one in seen:
            raise BindError(f"an ENUM has the value {string(one)} twice")
        seen.add(one)
    return f"ENUM({', '.join(map(string, labels))})"
