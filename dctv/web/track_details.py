"""Routes for details of tracks: one row, rows by name, an area, a point in time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from dctv.errors import UsageError
from dctv.web.area import Area
from dctv.web.critical import critical, critical_at
from dctv.web.details import details, place_at
from dctv.web.flame import flame
from dctv.web.parameters import integer, maybe_text, text, time, times, whole_number
from dctv.web.requests import Answering, attended, body_of, shown_in
from dctv.web.search import MOST, Search, search
from dctv.web.selection import selection
from dctv.web.service import Service

_MATCHES = 100
_MOST_TID = 2**32


async def _slice(service: Service, request: Request) -> Response:
    shown = service.timelines.find(request.path_params["track"])
    row = request.path_params["row"]
    if not row.isdecimal():
        raise UsageError(f"expected the number of a row, found `{row[:50]}`")
    return JSONResponse(await attended(service, request, lambda: details(service.host, shown, whole_number(row))))


async def _at(service: Service, request: Request) -> Response:
    shown, at = service.timelines.find(request.path_params["track"]), time(request.path_params, "time")
    row = place_at(shown, at).row
    return JSONResponse(await attended(service, request, lambda: details(service.host, shown, row)))


async def _search(service: Service, request: Request) -> Response:
    fields = await body_of(request)
    tracks = shown_in(service, fields) if "tracks" in fields else service.timelines.all()
    order = Search(
        text=maybe_text(fields, "text"),
        where=maybe_text(fields, "where"),
        start=time(fields, "from") if fields.get("from") is not None else None,
        limit=integer(fields, "limit", _MATCHES, 1, MOST),
        direction=maybe_text(fields, "direction"),
    )
    return JSONResponse(await attended(service, request, lambda: search(service.host, tracks, order)))


async def _selection(service: Service, request: Request) -> Response:
    fields = await body_of(request)
    area = _area(service, fields)
    return JSONResponse(await attended(service, request, lambda: selection(service.host, area)))


async def _flame(service: Service, request: Request) -> Response:
    fields = await body_of(request)
    area, of, event = _area(service, fields), text(fields, "of", "slices"), maybe_text(fields, "event")
    invert = fields.get("invert") is True
    found = await attended(service, request, lambda: flame(service.host, area, of, event=event, invert=invert))
    return JSONResponse(found)


def _area(service: Service, fields: Mapping[str, Any]) -> Area:
    """Return the area that a request is about."""
    return Area(shown_in(service, fields), time(fields, "from"), time(fields, "to"), times(fields, "moved"))


async def _critical(service: Service, request: Request) -> Response:
    fields = await body_of(request)
    if "track" in fields:
        shown, row = service.timelines.find(text(fields, "track")), integer(fields, "row", 0, 0, 2**53)
        return JSONResponse(await attended(service, request, lambda: critical(service.host, shown, row)))
    mount, tid, at = text(fields, "mount"), integer(fields, "tid", 0, 0, _MOST_TID), time(fields, "at")
    timeline = service.timelines.of_mount(mount)
    return JSONResponse(await attended(service, request, lambda: critical_at(service.host, mount, timeline, tid, at)))


ROUTES: tuple[tuple[str, str, Answering], ...] = (
    ("/api/slice/{track}/{row}", "GET", _slice),
    ("/api/at/{track}/{time}", "GET", _at),
    ("/api/search", "POST", _search),
    ("/api/selection", "POST", _selection),
    ("/api/flame", "POST", _flame),
    ("/api/critical", "POST", _critical),
)
