"""Fill a registry: import every module of a package and keep the records of one kind.

Code that modules of a registry share, or need only once they are chosen, is in subpackages; those are not searched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Protocol, TypeVar


class NamedRecord(Protocol):
    """A record that a registry can hold."""

    @property
    def name(self) -> str:
        """The name under which it is found."""


T = TypeVar("T", bound=NamedRecord)


def modules(package: ModuleType) -> list[str]:
    """Return the names of a package's modules, sorted."""
    return sorted(module.name for module in iter_modules(package.__path__) if not module.ispkg)


def scan(package: ModuleType, record: type[T]) -> dict[str, T]:
    """Return all records of a type that modules of a package define, by name; two of one name are our bug.

    A module defines records as values of their own or, where they come in families, in tuples.
    """
    found: dict[str, T] = {}
    for name in modules(package):
        module = import_module(f"{package.__name__}.{name}")
        for value in _records(module, record):
            assert found.get(value.name, value) is value, f"two records of {package.__name__} are named {value.name}"
            found[value.name] = value
    return found


class Registry(Mapping[str, T]):
    """The records of some packages by name; each module is imported when nothing was found in those before it."""

    def __init__(self, *packages: ModuleType, record: type[T], taken: Callable[[T], T] | None = None) -> None:
        """Apply `taken`, if given, to each record that is found."""
        self._packages = packages
        self._record = record
        self._taken = taken
        self._found: dict[str, dict[str, T]] = {}
        """By module; filled lazily."""

    @cached_property
    def _modules(self) -> list[str]:
        return [f"{package.__name__}.{name}" for package in self._packages for name in modules(package)]

    def named_in(self, text: str) -> Iterator[T]:
        """Return all records, those of modules named in a text first."""
        for found in self._each(sorted(self._modules, key=lambda name: name.rpartition(".")[2] not in text)):
            yield from found.values()

    def _each(self, modules: Sequence[str] = ()) -> Iterator[dict[str, T]]:
        for name in modules or self._modules:
            if name not in self._found:
                records = _records(import_module(name), self._record)
                found = {one.name: self._taken(one) if self._taken else one for one in records}
                self._found.setdefault(name, found)  # another thread may have found them meanwhile
            yield self._found[name]

    def __getitem__(self, name: str) -> T:
        for found in self._each():
            if name in found:
                return found[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        yielded: set[str] = set()
        for found in self._each():
            yield from (name for name in found if name not in yielded)
            yielded |= found.keys()

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _records(module: ModuleType, record: type[T]) -> Iterator[T]:
    for value in vars(module).values():
        members = value if isinstance(value, tuple) else (value,)
        yield from (member for member in members if isinstance(member, record))
