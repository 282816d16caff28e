"""Lets requests into the engine one after another, and ends the work that nobody waits for any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock
from typing import TypeVar

from dctv.errors import Interrupted

T = TypeVar("T")


class Ticket:
    """A place in the queue; it may be given up at any time, also by another thread."""

    def __init__(self) -> None:
        self._given_up = Event()

    @property
    def given_up(self) -> bool:
        """Whether nobody waits for it any more."""
        return self._given_up.is_set()

    def give_up(self) -> None:
        """Wait no more."""
        self._given_up.set()


class Turns:
    """The engine's queue.

    Interrupts reach all that runs in a session, so only the work whose turn it is may cause one.
    """

    def __init__(self, interrupt: Callable[[], None]) -> None:
        self._interrupt = interrupt
        self._engine = Lock()
        self._current: Ticket | None = None

    @contextmanager
    def turn(self, ticket: Ticket) -> Iterator[None]:
        """Wait for a turn and have it.

        Raises:
            Interrupted: the ticket was given up before.
        """
        while not self._engine.acquire(timeout=_LOOK):
            if ticket.given_up:
                raise Interrupted("interrupted")
        try:
            if ticket.given_up:
                raise Interrupted("interrupted")
            self._current = ticket
            yield
        finally:
            self._current = None
            self._engine.release()

    def take(self, work: Callable[[], T], ticket: Ticket | None = None) -> T:
        """Do a piece of work in its turn."""
        with self.turn(ticket or Ticket()):
            return work()

    def give_up(self, ticket: Ticket) -> None:
        """End the work of a ticket; to be called until it has ended, as work that is about to begin hears nothing."""
        ticket.give_up()
        if self._current is ticket:
            self._interrupt()

    def stop(self) -> None:
        """End what runs now."""
        if (current := self._current) is not None:
            self.give_up(current)


_LOOK = 0.1
"""Seconds between two looks at whether somebody still waits."""
