"""Shared parts of all routes: read a request, and work while its client waits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from dctv.errors import UsageError
from dctv.web.engine_queue import Ticket
from dctv.web.parameters import fields_of, track_ids
from dctv.web.request_errors import TooLarge
from dctv.web.service import Service
from dctv.web.shown_track import ShownTrack

T = TypeVar("T")
Answering = Callable[[Service, Request], Awaitable[Response]]
_MOST_JSON = 8 << 20
"""The maximum size of a request that is not a file."""
_LOOK = 0.1
"""Seconds between two checks whether a client still waits."""


async def body_of(request: Request) -> Mapping[str, Any]:
    """Parse a JSON object.

    Raises:
        UsageError: it is not one.
        TooLarge: it is larger than any that the page sends.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise UsageError("expected JSON, with the content type `application/json`")
    pieces, size = [], 0
    async for piece in request.stream():
        size += len(piece)
        if size > _MOST_JSON:
            raise TooLarge(f"the request is larger than {_MOST_JSON >> 20} MiB")
        pieces.append(piece)
    try:
        found = json.loads(b"".join(pieces))
        # Half of a surrogate pair is valid JSON, but no text that a query or an answer could have.
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise UsageError("the request has a text that is not Unicode: half of a surrogate pair") from None
    except (ValueError, RecursionError):
        raise UsageError("the request is not JSON") from None
    return fields_of(found)


async def attended(service: Service, request: Request, work: Callable[[], T]) -> T:
    """Run work on the engine in its turn, and cancel it if the client disconnects."""
    ticket = Ticket()
    task = asyncio.ensure_future(run_in_threadpool(service.turns.run, work, ticket))
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=_LOOK)
            if not task.done() and (ticket.abandoned or await request.is_disconnected()):
                service.turns.give_up(ticket)
    except asyncio.CancelledError:
        service.turns.give_up(ticket)
        raise
    return task.result()


def shown_in(service: Service, fields: Mapping[str, Any]) -> list[ShownTrack]:
    """Return the tracks that a request refers to, without the groups above those of a whole timeline."""
    return [service.timelines.find(track) for track in track_ids(fields) if not service.timelines.is_home(track)]
