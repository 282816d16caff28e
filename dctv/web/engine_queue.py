"""Let requests use the engine one after another, and cancel work that no client waits for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock
from typing import TypeVar

from dctv.errors import Interrupted

T = TypeVar("T")


class Ticket:
    """A position in the queue; it may be given up at any time, by any thread."""

    def __init__(self) -> None:
        self._given_up = Event()

    @property
    def abandoned(self) -> bool:
        """Whether its client no longer waits."""
        return self._given_up.is_set()

    def give_up(self) -> None:
        """Stop waiting."""
        self._given_up.set()


class Turns:
    """The engine's queue.

    An interrupt stops everything that runs in a session, so only the work in its turn may cause one.
    """

    def __init__(self, interrupt: Callable[[], None]) -> None:
        self._interrupt = interrupt
        self._engine = Lock()
        self._current: Ticket | None = None

    @contextmanager
    def turn(self, ticket: Ticket) -> Iterator[None]:
        """Wait for a turn and hold it.

        Raises:
            Interrupted: the ticket was given up before.
        """
        while not self._engine.acquire(timeout=_LOOK):
            if ticket.abandoned:
                raise Interrupted("interrupted")
        try:
            if ticket.abandoned:
                raise Interrupted("interrupted")
            self._current = ticket
            yield
        finally:
            self._current = None
            self._engine.release()

    def run(self, work: Callable[[], T], ticket: Ticket | None = None) -> T:
        """Run work in its turn."""
        with self.turn(ticket or Ticket()):
            return work()

    def give_up(self, ticket: Ticket) -> None:
        """Cancel the work of a ticket; call it until the work ends, since work that is just starting misses it."""
        ticket.give_up()
        if self._current is ticket:
            self._interrupt()

    def stop(self) -> None:
        """Interrupt the running work."""
        if (current := self._current) is not None:
            self.give_up(current)


_LOOK = 0.1
"""Seconds between two checks whether the client still waits."""
