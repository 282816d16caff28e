"""Frozen, slotted dataclasses that are cheap to define: their methods are shared, or made when first called.

`dataclass` compiles five functions for each class, which took a third of the time in which a program that asks one
question starts. What is made here is a dataclass to `fields`, `replace` and type checkers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field
from inspect import get_annotations
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Sample:
    """What `dataclass` leaves on a class."""

    one: int = 0


_FIELDS, _PARAMS, _KIND = "__dataclass_fields__", "__dataclass_params__", "_field_type"
_PLAIN = getattr(getattr(_Sample, _FIELDS)["one"], _KIND)


@overload
def record(cls: type[T], /) -> type[T]: ...
@overload
def record(*, eq: bool = True, text: bool = True) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[Any] | None = None, /, *, eq: bool = True, text: bool = True) -> Any:
    """Make a frozen, slotted dataclass; without `eq` or `text` (its repr) it keeps those that it inherits."""
    return (lambda one: _made(one, eq=eq, shown=text)) if cls is None else _made(cls, eq=eq, shown=text)


def _made(cls: type[Any], *, eq: bool, shown: bool) -> type[Any]:
    inherited: dict[str, Field[Any]] = {}
    for base in reversed(cls.__mro__[1:]):
        inherited.update(base.__dict__.get(_FIELDS, {}))
    body = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
    own = {name: _field(name, kind, body.pop(name, MISSING)) for name, kind in get_annotations(cls).items()}
    every = {**inherited, **own}
    body["__slots__"] = tuple(name for name in own if name not in inherited)
    body["__match_args__"] = tuple(one.name for one in every.values() if one.init and not one.kw_only)
    body[_FIELDS], body[_PARAMS] = every, getattr(_Sample, _PARAMS)
    for name, method in _methods(every, eq=eq, shown=shown).items():
        body.setdefault(name, method)
    kind: Callable[..., type[Any]] = type(cls)
    made = kind(cls.__name__, cls.__bases__, body)

    def begin(self: object, *values: object, **named: object) -> None:
        init = _init(made, every)
        type.__setattr__(made, "__init__", init)
        init(self, *values, **named)

    if "__init__" not in body:
        type.__setattr__(made, "__init__", begin)
    return made


def _field(name: str, kind: Any, default: Any) -> Field[Any]:
    made: Field[Any] = default if isinstance(default, Field) else field(default=default)
    made.name, made.type = name, kind
    setattr(made, _KIND, _PLAIN)
    if made.kw_only is MISSING:
        made.kw_only = False
    return made


def _methods(every: dict[str, Field[Any]], *, eq: bool, shown: bool) -> dict[str, Callable[..., Any]]:
    """Return what needs no code of its own in each class."""
    names = tuple(every)
    compared = _getter([one.name for one in every.values() if one.compare])

    def equal(self: object, other: object) -> bool:
        return compared(self) == compared(other) if type(other) is type(self) else NotImplemented

    def hashed(self: object) -> int:
        return hash(compared(self))

    def text(self: object) -> str:
        told = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in every.values() if one.repr)
        return f"{type(self).__qualname__}({told})"

    def state(self: object) -> list[object]:
        return [getattr(self, name) for name in names]

    def restore(self: object, values: list[object]) -> None:
        for name, value in zip(names, values, strict=True):
            object.__setattr__(self, name, value)

    found: dict[str, Callable[..., Any]] = {"__getstate__": state, "__setstate__": restore}
    found |= {"__setattr__": _no_assignment, "__delattr__": _no_deletion}
    if eq:
        found |= {"__eq__": equal, "__hash__": hashed}
    return {**found, "__repr__": text} if shown else found


def _getter(names: list[str]) -> Callable[[object], object]:
    return attrgetter(*names) if names else lambda _: ()


def _no_assignment(_: object, name: str, __: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _no_deletion(_: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _init(cls: type[Any], every: dict[str, Field[Any]]) -> Callable[..., None]:
    """Compile the method that makes an instance."""
    names: dict[str, Any] = {"_set": object.__setattr__, "_missing": MISSING}
    given, lines = ["self"], []
    keywords: list[str] = []
    for number, one in enumerate(every.values()):
        value = one.name
        default = ""
        if one.default is not MISSING:
            names[f"_{number}"], default = one.default, f"=_{number}"
        elif one.default_factory is not MISSING:
            names[f"_{number}"], default = one.default_factory, "=_missing"
            value = f"_{number}() if {one.name} is _missing else {one.name}"
        if one.init:
            (keywords if one.kw_only else given).append(f"{one.name}{default}")
        elif default:
            value = f"_{number}()" if default == "=_missing" else f"_{number}"
        if one.init or default:
            lines.append(f" _set(self, {one.name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    head = ", ".join([*given, *(["*"] if keywords else []), *keywords])
    exec(f"def __init__({head}):\n" + "\n".join(lines or [" pass"]), names)
    init: Callable[..., None] = names["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init
