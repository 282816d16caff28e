"""Slotted dataclasses that are cheap to define: their methods are shared, or made when they are worth it.

`dataclass` compiles five functions for each class, and its import loads modules for introspection: together a
third of the start-up time of a program that asks one question. A class made here is a dataclass to the standard
library and to type checkers. `field`, `fields` and `replace` are the standard ones for these classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform, overload

if TYPE_CHECKING:
    from dataclasses import field, fields, replace
    from dataclasses import is_dataclass as is_record

__all__ = ["Unread", "field", "fields", "is_record", "record", "replace", "unread"]

T = TypeVar("T")

_MISSING: Any = object()
_OWN = "__record_fields__"
_FIELDS, _PARAMS, _KIND = "__dataclass_fields__", "__dataclass_params__", "_field_type"
_set = object.__setattr__
_FEW = 16
"""The number of instances above which compiling `__init__` pays off."""


class _Field:
    """A field of a record; the names are those of the standard library."""

    __slots__ = ("compare", "default", "default_factory", "init", "kw_only", "name", "repr", "type")

    def __init__(self, default: Any, factory: Any) -> None:
        self.name = ""
        self.type: Any = None
        self.default = default
        self.default_factory = factory
        self.init = self.repr = self.compare = True
        self.kw_only = False

    @property
    def must(self) -> bool:
        """Whether a value must be given."""
        return self.default is _MISSING and self.default_factory is _MISSING

    def value(self) -> Any:
        """Return its default value, or _MISSING."""
        return self.default if self.default_factory is _MISSING else self.default_factory()


_Fields = Mapping[str, _Field]

if not TYPE_CHECKING:

    def field(*, default=_MISSING, default_factory=_MISSING, **more):
        """Declare more about a field than its type."""
        made = _Field(default, default_factory)
        for name, value in more.items():
            setattr(made, name, value)
        return made

    def fields(one):
        """Return the fields of a record, or of a class of records."""
        return tuple(getattr(one, _OWN).values())

    def is_record(one):
        """Return whether it is a record, or a class of records."""
        return hasattr(one, _OWN)

    def replace(one, /, **changes):
        """Make another record like one, with some values changed."""
        for name, known in getattr(one, _OWN).items():
            if known.init:
                changes.setdefault(name, getattr(one, name))
        return type(one)(**changes)


@overload
def record(cls: type[T], /) -> type[T]: ...
@overload
def record(*, eq: bool = True, text: bool = True, frozen: bool = True) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[Any] | None = None, /, *, eq: bool = True, text: bool = True, frozen: bool = True) -> Any:
    """Make a slotted dataclass; without `eq` or `text` (its repr) it keeps those that it inherits."""
    made = partial(_made, eq=eq, shown=text, frozen=frozen)
    return made if cls is None else made(cls)


class Unread:
    """Base of records that can be read lazily: `unread` makes those."""

    __slots__ = ("_read",)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Read the record; called for an attribute without a value."""
            names = getattr(type(self), _OWN)
            if name not in names:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            found = self._read()
            for one in names:
                _set(self, one, getattr(found, one))
            return getattr(found, name)


U = TypeVar("U", bound=Unread)


def unread(kind: type[U], read: Callable[[], U]) -> U:
    """Return a record that is read on first access."""
    made = object.__new__(kind)
    _set(made, "_read", read)
    return made


def _made(cls: type[Any], *, eq: bool, shown: bool, frozen: bool) -> type[Any]:
    inherited: dict[str, _Field] = {}
    for base in reversed(cls.__mro__[1:]):
        inherited.update(base.__dict__.get(_OWN, {}))
    body = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
    own = {name: _field(name, kind, body.pop(name, _MISSING)) for name, kind in cls.__annotations__.items()}
    every = {**inherited, **own}
    body["__slots__"] = tuple(name for name in own if name not in inherited)
    body["__match_args__"] = tuple(one.name for one in every.values() if one.init and not one.kw_only)
    body.update(_STANDARD)
    body[_OWN] = every
    for name, method in _methods(every, eq=eq, shown=shown, frozen=frozen).items():
        body.setdefault(name, method)
    init = body.setdefault("__init__", _Init(every))
    kind: Callable[..., type[Any]] = type(cls)
    made = kind(cls.__name__, cls.__bases__, body)
    if isinstance(init, _Init):
        init.cls = made
    return made


def _field(name: str, kind: Any, default: Any) -> _Field:
    made = default if isinstance(default, _Field) else _Field(default, _MISSING)
    made.name, made.type = name, kind
    return made


def _methods(every: _Fields, *, eq: bool, shown: bool, frozen: bool) -> dict[str, Callable[..., Any] | None]:
    """Return the methods that need no code of their own in each class."""
    names = tuple(every)
    compared = _getter([one.name for one in every.values() if one.compare])

    def equal(self: object, other: object) -> bool:
        return compared(self) == compared(other) if type(other) is type(self) else NotImplemented

    def hashed(self: object) -> int:
        return hash(compared(self))

    def text(self: object) -> str:
        parts = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in every.values() if one.repr)
        return f"{type(self).__qualname__}({parts})"

    def state(self: object) -> list[object]:
        return [getattr(self, name) for name in names]

    def restore(self: object, values: list[object]) -> None:
        for name, value in zip(names, values, strict=True):
            _set(self, name, value)

    found: dict[str, Callable[..., Any] | None] = {"__getstate__": state, "__setstate__": restore}
    if frozen:
        found |= {"__setattr__": _no_assignment, "__delattr__": _no_deletion}
    if eq:
        found |= {"__eq__": equal, "__hash__": hashed if frozen else None}
    return {**found, "__repr__": text} if shown else found


def _getter(names: list[str]) -> Callable[[object], object]:
    return attrgetter(*names) if names else lambda _: ()


def _no_assignment(_: object, name: str, __: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _no_deletion(_: object, name: str) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


class _Standard:
    """The attribute by which the standard library recognises dataclasses; made on first access."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, _: object, owner: type[Any]) -> Any:
        from dataclasses import make_dataclass

        found = getattr(make_dataclass("Sample", ["one"], frozen=True, slots=True), self._name)
        if self._name == _FIELDS:
            plain = getattr(found["one"], _KIND)
            found = {one.name: _standard(one, plain) for one in getattr(owner, _OWN).values()}
        type.__setattr__(owner, self._name, found)
        return found


_STANDARD = {name: _Standard(name) for name in (_FIELDS, _PARAMS)}


def _standard(one: _Field, kind: object) -> Any:
    from dataclasses import field

    given = {"default": one.default, "default_factory": one.default_factory}
    made: Any = field(
        init=one.init,
        repr=one.repr,
        compare=one.compare,
        kw_only=one.kw_only,
        **{name: value for name, value in given.items() if value is not _MISSING},
    )
    made.name, made.type = one.name, one.type
    setattr(made, _KIND, kind)
    return made


class _Init:
    """An initializer that sets fields one by one for the first instances; more of them, or access to it, compile it."""

    def __init__(self, every: _Fields) -> None:
        self.cls: type[Any] = object
        self._every = every
        self._left = _FEW

    def __get__(self, instance: object, _: type[Any]) -> Callable[..., None]:
        self._left -= 1
        if instance is not None and self._left > 0:
            return partial(self._begin, instance)
        init = _init(self.cls, self._every)
        type.__setattr__(self.cls, "__init__", init)
        return init if instance is None else partial(init, instance)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self._every.values() if one.init and not one.kw_only)

    @cached_property
    def _accepted(self) -> frozenset[str]:
        return frozenset(one.name for one in self._every.values() if one.init)

    @cached_property
    def _required(self) -> frozenset[str]:
        return frozenset(one.name for one in self._every.values() if one.init and one.must)

    def _begin(self, instance: Any, /, *values: object, **named: object) -> None:
        given = {**dict(zip(self._names, values, strict=False)), **named}
        if len(given) < len(values) + len(named) or not self._required <= given.keys() <= self._accepted:
            self.cls.__init__(instance, *values, **named)  # It raises the error.
        for name, one in self._every.items():
            value = given[name] if name in given else one.value()
            if value is not _MISSING:
                _set(instance, name, value)
        if hasattr(self.cls, "__post_init__"):
            instance.__post_init__()


def _init(cls: type[Any], every: _Fields) -> Callable[..., None]:
    """Compile the method that makes an instance."""
    names: dict[str, Any] = {"_set": _set, "_missing": _MISSING}
    given, lines = ["self"], []
    keywords: list[str] = []
    for number, one in enumerate(every.values()):
        value = one.name
        default = ""
        if one.default is not _MISSING:
            names[f"_{number}"], default = one.default, f"=_{number}"
        elif one.default_factory is not _MISSING:
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
