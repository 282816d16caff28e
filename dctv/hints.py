"""What annotations are written with, for modules that every process loads: `typing` takes 3 ms of its start.

Type checkers see `typing` itself. A running program finds names that stand for nothing, since nothing asks them.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, AnyStr, BinaryIO, Generic, NoReturn, Protocol, TypeVar, cast, dataclass_transform, overload
else:

    class Generic:
        """A base class that takes parameters in brackets."""

        __slots__ = ()

        def __class_getitem__(cls, _):
            """Be the same class for all types."""
            return cls

    Protocol = Generic
    Any = AnyStr = BinaryIO = NoReturn = object

    def TypeVar(name, **_):
        """Return a name."""
        return name

    def cast(_, value):
        """Return a value as it is."""
        return value

    def dataclass_transform(**_):
        """Return a decorator that changes nothing."""
        return overload

    def overload(function):
        """Return a function as it is."""
        return function


__all__ = [
    "TYPE_CHECKING",
    "Any",
    "AnyStr",
    "BinaryIO",
    "Generic",
    "NoReturn",
    "Protocol",
    "TypeVar",
    "cast",
    "dataclass_transform",
    "overload",
]
