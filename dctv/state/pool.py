"""Reuse attributes, such as lanes of states that overlap."""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Literal

from dctv.errors import UsageError

if TYPE_CHECKING:
    from dctv.state.system import StateSystem


class AttributePool:
    """Numbered attributes below a parent: free ones are reused, the first freed or the least number first."""

    def __init__(self, system: StateSystem, base: int, order: Literal["fifo", "priority"] = "fifo") -> None:
        if order not in ("fifo", "priority"):
            raise UsageError(f"unknown order `{order}`, expected fifo or priority")
        self._system = system
        self._base = base
        self._order = order
        self._made = 0
        self._free: deque[int] = deque()
        self._least: list[tuple[int, int]] = []
        self._taken: dict[int, int] = {}

    def take(self) -> int:
        """Return a free attribute, a new one if there is none."""
        if self._least:
            number, quark = heappop(self._least)
        elif self._free:
            quark = self._free.popleft()
            number = int(self._system.name(quark))
        else:
            number, self._made = self._made, self._made + 1
            quark = self._system.add_below(self._base, str(number))
        self._taken[quark] = number
        return quark

    def release(self, time: int, quark: int) -> None:
        """Free an attribute, and remove its state from then on.

        Raises:
            UsageError: it was not taken from this pool.
        """
        number = self._taken.pop(quark, None)
        if number is None:
            raise UsageError(f"the attribute {quark} was not taken from this pool")
        self._system.remove(time, quark)
        if self._order == "fifo":
            self._free.append(quark)
        else:
            heappush(self._least, (number, quark))
