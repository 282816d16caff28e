"""Restrict access to the page that this server delivered: check token, Host and Origin of every request."""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


def new_token() -> str:
    """Return an unguessable token."""
    return secrets.token_urlsafe(24)


class Guard:
    """ASGI middleware that forwards only requests that pass the checks.

    The token is the first part of the path: a page has it in all its relative addresses, and unlike a cookie it is not
    sent to other pages on this machine.
    """

    def __init__(self, app: App, token: str, port: int) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = {f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost")}
        if port == _HTTP:
            self._hosts |= {b"127.0.0.1", b"localhost"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 403, or forward the request to the application."""
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_HEADERS]
            await send(message)

        fault = self._fault(scope)
        if fault is not None:
            await _refuse(fault, send_guarded)
            return
        first, _, rest = scope["path"].lstrip("/").partition("/")
        path = f"/{rest}"
        await self._app({**scope, "root_path": f"/{first}", "path": f"/{first}{path}"}, receive, send_guarded)

    def _fault(self, scope: Scope) -> str | None:
        """Return why a request is refused, None if it is accepted."""
        hosts, origins, sites = (_all(scope["headers"], name) for name in (b"host", b"origin", b"sec-fetch-site"))
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return "the request is for another host"
        if any(origin != b"http://" + hosts[0] for origin in origins):
            return "the request comes from a page of another origin"
        if any(site not in (b"same-origin", b"none") for site in sites) and not _opens_page(scope):
            return "the request comes from a page of another origin"
        first = scope["path"].lstrip("/").partition("/")[0].encode("utf-8", "replace")
        if not secrets.compare_digest(first, self._token):
            return "the address has no token, or not that of this session"
        return None


def _opens_page(scope: Scope) -> bool:
    """Whether the request follows a link to the page: the linking page learns nothing from that."""
    mode = _all(scope["headers"], b"sec-fetch-mode")
    at_root = scope["path"].count("/") <= _DEPTH_OF_PAGE and scope["path"].endswith("/")
    return scope["method"] == "GET" and mode == [b"navigate"] and at_root


def _all(headers: Sequence[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    return [value for key, value in headers if key.lower() == name]


async def _refuse(why: str, send: Send) -> None:
    hint = "open the address that `dctv ui` printed"
    error = {"message": why, "hint": hint, "rendered": f"error: {why}\nhint: {hint}", "place": None}
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"error": error}).encode()})


_HTTP = 80
_DEPTH_OF_PAGE = 2
