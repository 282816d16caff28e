"""Notify open pages with server-sent events: progress of mounts, new tracks, the end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable
from threading import Lock
from time import monotonic


class News:
    """A sender of events to all listeners; thread-safe."""

    def __init__(self) -> None:
        self._listeners: list[_Listener] = []
        self._lock = Lock()
        self._ended = False
        self._sent_at = 0.0

    def send(self, event: str, data: object = None) -> None:
        """Send an event now."""
        with self._lock:
            for listener in self._listeners:
                listener.put(event, data)

    def progress(self, event: str, data: object) -> None:
        """Send progress, at a limited rate."""
        now = monotonic()
        if now - self._sent_at >= _PACE:
            self._sent_at = now
            self.send(event, data)

    def end(self) -> None:
        """Notify pages that the server stops; later events are discarded."""
        self.send("end")
        self._ended = True

    async def listen(self, so_far: Callable[[], Iterable[tuple[str, object]]] = tuple) -> AsyncIterator[bytes]:
        """Yield events in the protocol's form, and a comment now and then, to detect lost connections.

        `so_far` comes first, for a page that starts to listen or has reconnected.
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
            # Events that arrived while the last piece was sent.
            yield listener.queued()
        finally:
            with self._lock:
                self._listeners.remove(listener)


class _Listener:
    """One page: only the newest progress event of each kind waits, however slow the page is."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: dict[str, bytes] = {}
        self._there = asyncio.Event()

    def put(self, event: str, data: object) -> None:
        """Queue an event; thread-safe."""
        text = json.dumps(data)
        key = f"{event} {data['name']}" if isinstance(data, dict) and "name" in data else event
        line = f"event: {event}\ndata: {text}\n\n".encode()
        self._loop.call_soon_threadsafe(self._keep, key, line)

    def _keep(self, key: str, line: bytes) -> None:
        # The newest of a kind moves to the end, to keep its order with other events.
        self._waiting.pop(key, None)
        self._waiting[key] = line
        self._there.set()

    async def next(self) -> bytes:
        """Return the queued events, or a comment if nothing has happened for a while."""
        try:
            await asyncio.wait_for(self._there.wait(), _QUIET)
        except TimeoutError:
            return b": still here\n\n"
        return self.queued()

    def queued(self) -> bytes:
        """Return the events that are queued now."""
        self._there.clear()
        sent, self._waiting = b"".join(self._waiting.values()), {}
        return sent


_PACE = 0.1
_QUIET = 15.0
"""Seconds until a comment."""
