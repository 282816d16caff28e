"""A value that is made on first use, with the warnings of its making."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Generic, TypeVar

from dctv.errors import WarningLog

T = TypeVar("T")


class Lazy(Generic[T]):
    """A value that is made on first use; thread-safe.

    Args:
        make: makes the value.
        log: gets the warnings of its making each time that the value is asked for, as if it were made for every query.
    """

    def __init__(self, make: Callable[[], T], log: WarningLog) -> None:
        self._make = make
        self._log = log
        self._lock = RLock()
        self._made: list[T] = []
        self._warnings: dict[str, int] = {}

    @classmethod
    def of(cls, value: T) -> Lazy[T]:
        """Return one that is made already."""
        found = cls(lambda: value, WarningLog())
        found.value()
        return found

    @property
    def made(self) -> bool:
        """Whether the value exists."""
        return bool(self._made)

    def value(self) -> T:
        """Return the value, made if it is missing."""
        with self._lock:
            if self._made:
                self._log.repeat(self._warnings)
            else:
                with self._log.recording() as warnings:
                    value = self._make()
                self._made, self._warnings = [value], warnings
            return self._made[0]
