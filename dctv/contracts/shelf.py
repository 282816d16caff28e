"""Fills a shelf: imports every module of a package and keeps the records of one kind.

What modules of a shelf share, or only need once they are chosen, is in packages within; those are not searched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Protocol, TypeVar


class Named(Protocol):
    """A record that a shelf can hold."""

    @property
    def name(self) -> str:
        """The name under which it is found."""
        ...


T = TypeVar("T", bound=Named)


def modules(package: ModuleType) -> list[str]:
    """Return the names of a package's modules, sorted; `pkgutil` would load what looks into programs to tell them."""
    files = [file for folder in package.__path__ for file in Path(folder).iterdir()]
    return sorted({file.stem for file in files if file.suffix in {".py", ".pyc"}} - {"__init__"})


def scan(package: ModuleType, record: type[T]) -> dict[str, T]:
    """Return all records of a type that modules of a package define, by name; two of one name are our bug.

    A module defines records as values of their own or, where they come in families, in tuples.
    """
    found: dict[str, T] = {}
    for name in modules(package):
        module = import_module(f"{package.__name__}.{name}")
        for value in _records(module, record):
            assert found.get(value.name, value) is value, f"two on shelf {package.__name__} are named {value.name}"
            found[value.name] = value
    return found


class Shelf(Mapping[str, T]):
    """The records of a shelf by name; its modules are imported when somebody looks."""

    def __init__(self, *packages: ModuleType, record: type[T]) -> None:
        self._packages = packages
        self._record = record

    @cached_property
    def _found(self) -> dict[str, T]:
        return {name: one for package in self._packages for name, one in scan(package, self._record).items()}

    def __getitem__(self, name: str) -> T:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def _records(module: ModuleType, record: type[T]) -> Iterator[T]:
    for value in vars(module).values():
        members = value if isinstance(value, tuple) else (value,)
        yield from (member for member in members if isinstance(member, record))
