"""The routes: each parses a request, calls one function, and answers."""

from __future__ import annotations

import json
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from dctv.web import help as helping
from dctv.web import page, track_details
from dctv.web.parameters import integer, maybe_text, text, time, track_ids, whole_number
from dctv.web.queries import MOST_ROWS, QueryRequest, Report, answer, report
from dctv.web.request_errors import error_json, status_of
from dctv.web.requests import Answering, attended, body_of
from dctv.web.service import Service
from dctv.web.tiles import tiles

_WHATEVER = (Exception,)
"""The page gets a message for any error."""
ARROW = "application/vnd.apache.arrow.stream"
_ROWS = 10_000


def site(service: Service) -> Starlette:
    """Return the application that serves a session."""
    routes = [
        Route("/", _page),
        Route("/assets/{name}", _asset),
        *(_route(path, method, handler, service) for path, method, handler in _ROUTES),
    ]
    return Starlette(routes=routes)


def _route(path: str, method: str, handler: Answering, service: Service) -> Route:
    async def answered(request: Request) -> Response:
        try:
            return await handler(service, request)
        except ClientDisconnect:
            return Response(status_code=204)
        except _WHATEVER as error:
            return JSONResponse({"error": error_json(error)}, status_of(error))

    return Route(path, answered, methods=[method])


async def _page(_: Request) -> Response:
    return _file("index.html") or PlainTextResponse(f"{page.MISSING}\n{page.WAY_OUT}\n", 503)


async def _asset(request: Request) -> Response:
    return _file(f"assets/{request.path_params['name']}") or PlainTextResponse("there is no such file\n", 404)


def _file(name: str) -> Response | None:
    found = page.read(name)
    return None if found is None else Response(found[0], media_type=found[1])


async def _session(service: Service, _: Request) -> Response:
    return JSONResponse(await run_in_threadpool(service.initial_data))


async def _tracks(service: Service, request: Request) -> Response:
    if service.is_behind():
        await attended(service, request, service.timelines.load)
    return JSONResponse(await run_in_threadpool(service.timelines.listing))


async def _add_track(service: Service, request: Request) -> Response:
    fields = await body_of(request)
    sql = text(fields, "sql")
    shown = {name: maybe_text(fields, name) for name in ("name", "value", "title")}
    made = await attended(service, request, lambda: service.add_track(sql, shown))
    return JSONResponse({"tracks": made})


async def _remove_track(service: Service, request: Request) -> Response:
    service.remove_track(request.path_params["track"])
    return JSONResponse({})


async def _tiles(service: Service, request: Request) -> Response:
    fields = await body_of(request)
    shown = [service.timelines.find(track) for track in track_ids(fields)]
    start, stop, step = (time(fields, name) for name in ("from", "to", "step"))
    return Response(await run_in_threadpool(tiles, shown, start, stop, step), media_type=ARROW)


async def _query(service: Service, request: Request) -> Response:
    fields = await body_of(request)
    query = QueryRequest(text(fields, "sql"), integer(fields, "limit", _ROWS, 1, MOST_ROWS), service.may_mount)
    found = await attended(service, request, lambda: answer(service.host, query))
    service.look()
    return Response(found, media_type=ARROW)


async def _report(service: Service, request: Request) -> Response:
    fields = await body_of(request)
    name, sql = text(fields, "name", "report.sql"), text(fields, "text")
    if service.has_run(name, sql):
        lines = iter(service.report_lines)
    else:
        lines = report(service.host, Report(name, sql, service.may_mount, made=service.undo_statements(name)))

    async def events() -> Any:
        while (line := await attended(service, request, lambda: next(lines, None))) is not None:
            yield json.dumps(line).encode() + b"\n"
        service.look()

    return StreamingResponse(events(), media_type="application/x-ndjson")


async def _complete(service: Service, request: Request) -> Response:
    fields = await body_of(request)
    sql = text(fields, "text")
    at = integer(fields, "cursor", len(sql), 0, 2 * len(sql))
    return JSONResponse(await attended(service, request, lambda: helping.complete(service.host, sql, at)))


async def _check(service: Service, request: Request) -> Response:
    sql = text(await body_of(request), "text")
    return JSONResponse(await attended(service, request, lambda: helping.check(service.host, sql)))


async def _tables(service: Service, request: Request) -> Response:
    prefix = request.query_params.get("prefix", "")
    return JSONResponse(await attended(service, request, lambda: helping.tables(service.host, prefix)))


async def _columns(service: Service, request: Request) -> Response:
    table = request.query_params.get("table", "")
    return JSONResponse(await attended(service, request, lambda: helping.columns(service.host, table)))


async def _events(service: Service, _: Request) -> Response:
    return StreamingResponse(service.news.listen(service.so_far), media_type="text/event-stream")


async def _upload(service: Service, request: Request) -> Response:
    announced = request.headers.get("content-length", "")
    size = whole_number(announced) if announced.isdecimal() else None
    path = await service.uploads.store(request.query_params.get("name", ""), request.stream(), size)
    return JSONResponse({"mount": service.mount_upload(path)})


async def _interrupt(service: Service, _: Request) -> Response:
    service.turns.stop()
    return JSONResponse({})


_ROUTES: tuple[tuple[str, str, Answering], ...] = (
    ("/api/session", "GET", _session),
    ("/api/tracks", "GET", _tracks),
    ("/api/tracks", "POST", _add_track),
    ("/api/tracks/{track:path}", "DELETE", _remove_track),
    ("/api/tiles", "POST", _tiles),
    *track_details.ROUTES,
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
