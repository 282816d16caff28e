"""The routes: each reads a request, calls one function, and answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from dctv.errors import UsageError
from dctv.web import help as helping
from dctv.web import page
from dctv.web.faults import TooLarge, status_of, told
from dctv.web.parameters import fields_of, integer, text, time, track_ids, whole
from dctv.web.queries import MOST_ROWS, Query, Report, answer, report
from dctv.web.service import Service
from dctv.web.shown_track import Shown
from dctv.web.tiles import tiles
from dctv.web.turns import Ticket

_WHATEVER = (Exception,)
"""The page is told in words of anything that goes wrong."""
T = TypeVar("T")
Handler = Callable[[Request], Awaitable[Response]]
ARROW = "application/vnd.apache.arrow.stream"
_MOST_JSON = 8 << 20
"""Bytes of a request that is not a file."""
_LOOK = 0.1
"""Seconds between two looks at whether a client still waits."""
_ROWS = 10_000


def site(service: Service) -> Starlette:
    """Return the application that serves a session."""
    routes = [
        Route("/", _page),
        Route("/assets/{name}", _asset),
        *(_route(path, method, handler, service) for path, method, handler in _ROUTES),
    ]
    return Starlette(routes=routes)


def _route(
    path: str, method: str, handler: Callable[[Service, Request], Awaitable[Response]], service: Service
) -> Route:
    async def answered(request: Request) -> Response:
        try:
            return await handler(service, request)
        except ClientDisconnect:
            return Response(status_code=204)
        except _WHATEVER as error:
            return JSONResponse({"error": told(error)}, status_of(error))

    return Route(path, answered, methods=[method])


async def _page(_: Request) -> Response:
    return _file("index.html") or PlainTextResponse(f"{page.MISSING}\n{page.WAY_OUT}\n", 503)


async def _asset(request: Request) -> Response:
    return _file(f"assets/{request.path_params['name']}") or PlainTextResponse("there is no such file\n", 404)


def _file(name: str) -> Response | None:
    found = page.read(name)
    return None if found is None else Response(found[0], media_type=found[1])


async def _body(request: Request) -> Mapping[str, Any]:
    """Read a JSON object that is not larger than any that the page sends."""
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
    except (ValueError, RecursionError):
        raise UsageError("the request is no JSON") from None
    return fields_of(found)


async def _attended(service: Service, request: Request, work: Callable[[], T]) -> T:
    """Do work of the engine in its turn, and end it if the client goes away."""
    ticket = Ticket()
    task = asyncio.ensure_future(run_in_threadpool(service.turns.take, work, ticket))
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=_LOOK)
            if not task.done() and (ticket.given_up or await request.is_disconnected()):
                service.turns.give_up(ticket)
    except asyncio.CancelledError:
        service.turns.give_up(ticket)
        raise
    return task.result()


def _shown(service: Service, fields: Mapping[str, Any]) -> list[Shown]:
    return [service.timelines.find(track) for track in track_ids(fields)]


async def _session(service: Service, _: Request) -> Response:
    return JSONResponse(await run_in_threadpool(service.known))


async def _tracks(service: Service, request: Request) -> Response:
    if service.is_behind():
        await _attended(service, request, service.timelines.load)
    return JSONResponse(await run_in_threadpool(service.timelines.listing))


async def _add_track(service: Service, request: Request) -> Response:
    fields = await _body(request)
    sql = text(fields, "sql")
    shown = {name: fields.get(name) for name in ("name", "value", "title")}
    made = await _attended(service, request, lambda: service.add_track(sql, shown))
    return JSONResponse({"tracks": made})


async def _remove_track(service: Service, request: Request) -> Response:
    service.remove_track(request.path_params["track"])
    return JSONResponse({})


async def _tiles(service: Service, request: Request) -> Response:
    fields = await _body(request)
    shown = _shown(service, fields)
    start, stop, step = (time(fields, name) for name in ("from", "to", "step"))
    return Response(await run_in_threadpool(tiles, shown, start, stop, step), media_type=ARROW)


async def _query(service: Service, request: Request) -> Response:
    fields = await _body(request)
    query = Query(text(fields, "sql"), integer(fields, "limit", _ROWS, 1, MOST_ROWS), service.may_mount)
    found = await _attended(service, request, lambda: answer(service.host, query))
    service.look()
    return Response(found, media_type=ARROW)


async def _report(service: Service, request: Request) -> Response:
    fields = await _body(request)
    name, sql = text(fields, "name", "report.sql"), text(fields, "text")
    if service.has_run(name, sql):
        lines = iter(service.report_lines)
    else:
        lines = report(service.host, Report(name, sql, service.may_mount))

    async def told_as_it_goes() -> Any:
        while (line := await _attended(service, request, lambda: next(lines, None))) is not None:
            yield json.dumps(line).encode() + b"\n"
        service.look()

    return StreamingResponse(told_as_it_goes(), media_type="application/x-ndjson")


async def _complete(service: Service, request: Request) -> Response:
    fields = await _body(request)
    sql = text(fields, "text")
    at = integer(fields, "cursor", len(sql), 0, 2 * len(sql))
    return JSONResponse(await _attended(service, request, lambda: helping.complete(service.host, sql, at)))


async def _check(service: Service, request: Request) -> Response:
    sql = text(await _body(request), "text")
    return JSONResponse(await _attended(service, request, lambda: helping.check(service.host, sql)))


async def _tables(service: Service, request: Request) -> Response:
    prefix = request.query_params.get("prefix", "")
    return JSONResponse(await _attended(service, request, lambda: helping.tables(service.host, prefix)))


async def _columns(service: Service, request: Request) -> Response:
    table = request.query_params.get("table", "")
    return JSONResponse(await _attended(service, request, lambda: helping.columns(service.host, table)))


async def _events(service: Service, _: Request) -> Response:
    return StreamingResponse(service.news.listen(), media_type="text/event-stream")


async def _upload(service: Service, request: Request) -> Response:
    announced = request.headers.get("content-length", "")
    size = whole(announced) if announced.isdecimal() else None
    path = await service.uploads.store(request.query_params.get("name", ""), request.stream(), size)
    return JSONResponse({"mount": service.take(path)})


async def _interrupt(service: Service, _: Request) -> Response:
    service.turns.stop()
    return JSONResponse({})


_ROUTES: tuple[tuple[str, str, Callable[[Service, Request], Awaitable[Response]]], ...] = (
    ("/api/session", "GET", _session),
    ("/api/tracks", "GET", _tracks),
    ("/api/tracks", "POST", _add_track),
    ("/api/tracks/{track:path}", "DELETE", _remove_track),
    ("/api/tiles", "POST", _tiles),
    ("/api/query", "POST", _query),
    ("/api/report", "POST", _report),
    ("/api/complete", "POST", _complete),
    ("/api/check", "POST", _check),
    ("/api/tables", "GET", _tables),
    ("/api/columns", "GET", _columns),
    ("/api/events", "GET", _events),
    ("/api/upload", "POST", _upload),
    ("/api/interrupt", "POST", _interrupt),
)
