"""Take members out of structs, and values out of JSON."""

from __future__ import annotations

from typing import TypeGuard

from dctv.bind.types import DOUBLE, JSON, STRING_LITERAL, VARCHAR, of_call, of_member, settled
from dctv.errors import BindError, Place, nearest
from dctv.plan.build import call
from dctv.plan.expressions import Expression, Number, Text
from dctv.signatures.types import Type, unquoted
from dctv.types.values import dialect_type

_EXTRACTS = {"STRUCT": "struct_extract", "UNION": "union_extract"}


def has_members(made: Type | None) -> bool:
    """Whether values of a type have members that go by names."""
    return made is not None and made.name in ("STRUCT", "JSON", "UNION", "VARIANT", "GEOMETRY")


def member_of(value: Expression, made: Type | None, name: str, place: Place | None) -> tuple[Expression, Type | None]:
    """Write the choice of a member, and return its type; of an unknown type it is left to the engine.

    Raises:
        BindError: a struct has no such member, or the type has none at all.
    """
    if made is not None and made.name == "JSON":
        if name.isdecimal():
            # In a pointer this would be the place of an element.
            return call("json_extract", value, Text(f'$."{name}"')), of_call(
                "json_extract", [made, STRING_LITERAL], proven=True
            )
        # A pointer takes any name as it is, which a path with dots does not.
        pointer = "/" + name.replace("~", "~0").replace("/", "~1")
        return call("json_extract", value, Text(pointer)), of_call("json_extract", [made, STRING_LITERAL], proven=True)
    if made is None:
        return call("struct_extract", value, Text(name)), None
    if made.name == "VARIANT":
        return call("variant_extract", value, Text(name)), made
    if made.name == "GEOMETRY" and name.lower() in ("x", "y", "z", "m"):
        return call("vertex_extract", value, Text(name.lower())), DOUBLE
    if made.name not in _EXTRACTS:
        raise BindError(f"cannot access `{name}` of {shown(made)}, which has no members", place)
    found = of_member(made, name)
    if found is None:
        names = [unquoted(one) for one in made.names]
        near = nearest(name, names)
        hint = f"did you mean `{near}`?" if near else f"members: {', '.join(names[:12])}"
        raise BindError(f"the {made.name.lower()} has no member `{name}`", place, hint=hint)
    return call(_EXTRACTS[made.name], value, Text(name)), found


def members_of(value: Expression, made: Type) -> list[tuple[str, Expression, Type]]:
    """Return all members of a struct, with their names and types."""
    if made.name == "TUPLE":
        # The engine takes them by number; where it needs names, it gives them these.
        return [
            (f"element{number}", call("struct_extract", value, Number(str(number))), kind)
            for number, kind in enumerate(made.children, start=1)
        ]
    names = [unquoted(name) for name in made.names]
    return [
        (name, call("struct_extract", value, Text(name)), kind) for name, kind in zip(names, made.children, strict=True)
    ]


def is_struct(made: Type | None) -> TypeGuard[Type]:
    """Whether values of a type are structs, with named members or, as `row(1, 2)`, without names."""
    return made is not None and made.name in ("STRUCT", "TUPLE")


def shown(made: Type | None) -> str:
    """Return how a message writes a type."""
    found = settled(made)
    return "a value" if found is None else dialect_type(found.text)


def is_json(made: Type | None) -> bool:
    """Whether values of a type may be read as JSON."""
    return made is None or made in (JSON, VARCHAR, STRING_LITERAL)
