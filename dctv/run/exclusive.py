"""Let one thread at a time into an object."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Any, Protocol, TypeVar, cast


class Lockable(Protocol):
    """An object that several threads use."""

    lock: RLock
    """Held by the thread that is in it."""


_Method = TypeVar("_Method", bound=Callable[..., Any])


def exclusive(method: _Method) -> _Method:
    """Make the calls of a method wait for each other, and for those of other such methods of the same object."""

    @wraps(method)
    def alone(self: Lockable, /, *given: Any, **named: Any) -> Any:
        with self.lock:
            return method(self, *given, **named)

    return cast("_Method", alone)
