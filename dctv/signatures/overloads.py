"""Which of several signatures the engine takes for the types of some arguments, as its function_binder.cpp does."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.signatures.casts import NULL, TEMPLATES, cost_of, settled
from dctv.signatures.combine import combined
from dctv.signatures.table import Signature, fitting
from dctv.signatures.types import Type, array_of, list_of, map_of, struct_of, tuple_of

_MOST = 10**12
"""More than any call costs."""
Bindings = dict[str, Type]
"""Types by the letter of the template that they replace."""


def chosen(name: str, arguments: Sequence[Type]) -> Signature | None:
    """Return a function's signature whose casts cost least; None: none fits, or several cost the same."""
    given = [one.text for one in arguments]
    best: Signature | None = None
    least, tied = _MOST, False
    for signature, taken in fitting(name, len(given)):
        total = 0
        for source, target in zip(given, taken, strict=True):
            cost = cost_of(source, target)
            if cost is None or total + cost > least:
                break
            total += cost
        else:
            tied = total == least
            best, least = signature, total
    return None if tied else best


def bound(signature: Signature, arguments: Sequence[Type]) -> Bindings | None:
    """Bind the templates of a signature to the types of arguments; None if they do not fit, or it is unknown."""
    found: Bindings = {}
    for index, argument in enumerate(arguments):
        parameter = signature.parameter(index)
        if not _bind(parameter, argument, found) or not found.keys() >= set(_letters(parameter)):
            return None
    return {letter: settled(one) for letter, one in found.items()}


def filled(one: Type, bindings: Bindings) -> Type | None:
    """Replace templates by their types; None if one is not bound."""
    if one.name in TEMPLATES:
        return bindings.get(one.name)
    if not one.children:
        return one
    children = [filled(child, bindings) for child in one.children]
    found = tuple(child for child in children if child is not None)
    return _with_children(one, found) if len(found) == len(children) else None


def _bind(parameter: Type, argument: Type, found: Bindings) -> bool:
    """Bind the templates of a parameter; return whether they agree with earlier bindings."""
    if argument == NULL:
        for letter in _letters(parameter):
            found.setdefault(letter, NULL)
        return True
    if parameter.name in TEMPLATES:
        bound = found.get(parameter.name, argument)
        both = argument if bound == argument else combined(bound, argument)
        if both is not None:
            found[parameter.name] = both
        return both is not None
    lists = ("LIST", "ARRAY")
    if parameter.name == argument.name == "MAP" or (parameter.name in lists and argument.name in lists):
        return all(_bind(*pair, found) for pair in zip(parameter.children, argument.children, strict=True))
    if parameter.name == "TUPLE" and argument.children:
        return all(_bind(*pair, found) for pair in zip(parameter.children, argument.children, strict=False))
    return True


def _letters(one: Type) -> list[str]:
    return [one.name] if one.name in TEMPLATES else [letter for child in one.children for letter in _letters(child)]


def _with_children(one: Type, children: tuple[Type, ...]) -> Type | None:
    match one.name:
        case "LIST":
            return list_of(children[0])
        case "ARRAY":
            return array_of(children[0], one.numbers[0])
        case "MAP":
            return map_of(*children)
        case "TUPLE":
            return tuple_of(children)
        case "STRUCT":
            return struct_of(one.names, children)
        case _:
            return None
