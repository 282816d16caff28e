"""Tells open pages what happens: progress of mounts, new tracks, the end. Server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable
from threading import Lock
from time import monotonic


class News:
    """What happens, to whoever listens; any thread may tell."""

    def __init__(self) -> None:
        self._listeners: list[_Listener] = []
        self._lock = Lock()
        self._ended = False
        self._sent_at = 0.0

    def tell(self, event: str, data: object = None) -> None:
        """Tell of an event now."""
        with self._lock:
            for listener in self._listeners:
                listener.put(event, data)

    def progress(self, event: str, data: object) -> None:
        """Tell of progress, but not more often than anybody can see."""
        now = monotonic()
        if now - self._sent_at >= _PACE:
            self._sent_at = now
            self.tell(event, data)

    def end(self) -> None:
        """Tell that the server stops; nothing is told after that."""
        self.tell("end")
        self._ended = True

    async def listen(self, so_far: Callable[[], Iterable[tuple[str, object]]] = tuple) -> AsyncIterator[bytes]:
        """Yield events as the protocol has them, and a comment now and then, so that a lost connection is noticed.

        The first are `so_far`: what a page that begins to listen, or lost its connection, may have missed.
        """
        listener = _Listener(asyncio.get_running_loop())
        with self._lock:
            self._listeners.append(listener)
        try:
            yield b"retry: 1000\n\n"
            for event, data in so_far():
                listener.put(event, data)
            while not self._ended:
                yield await listener.next()
            # What came while the last piece was on its way.
            yield listener.rest()
        finally:
            with self._lock:
                self._listeners.remove(listener)


class _Listener:
    """One page: of each kind of progress only the newest waits, however slow it is."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: dict[str, bytes] = {}
        self._there = asyncio.Event()

    def put(self, event: str, data: object) -> None:
        """Let an event wait; called by any thread."""
        text = json.dumps(data)
        key = f"{event} {data['name']}" if isinstance(data, dict) and "name" in data else event
        line = f"event: {event}\ndata: {text}\n\n".encode()
        self._loop.call_soon_threadsafe(self._keep, key, line)

    def _keep(self, key: str, line: bytes) -> None:
        # The newest of a kind goes to the end: what it follows is told before.
        self._waiting.pop(key, None)
        self._waiting[key] = line
        self._there.set()

    async def next(self) -> bytes:
        """Return what waits, or a comment if nothing has happened for a while."""
        try:
            await asyncio.wait_for(self._there.wait(), _QUIET)
        except TimeoutError:
            return b": still here\n\n"
        return self.rest()

    def rest(self) -> bytes:
        """Return what waits now."""
        self._there.clear()
        sent, self._waiting = b"".join(self._waiting.values()), {}
        return sent


_PACE = 0.1
_QUIET = 15.0
"""Seconds."""
