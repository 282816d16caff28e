"""A client of the page's server that sends exactly the given requests."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from dctv import Session
from dctv.web.serving import Serving

JSON = {"content-type": "application/json"}


class Client:
    """Requests to one server."""

    def __init__(self, serving: Serving) -> None:
        self.serving = serving
        self.token = serving.address.rstrip("/").rpartition("/")[2]

    def raw(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request to a whole path; return status, headers and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.serving.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            sent = {"host": f"127.0.0.1:{self.serving.port}"} | dict(headers or {})
            if body is not None:
                sent.setdefault("content-length", str(len(body)))
            for name, value in sent.items():
                if value:
                    connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        """Return the JSON that the page would get."""
        status, _, body = self.raw("GET", f"/{self.token}/{path}")
        assert status == 200, body
        return json.loads(body)

    def send(self, path: str, fields: object, method: str = "POST") -> tuple[int, Any]:
        """Send JSON; return status and JSON."""
        status, _, body = self.raw(method, f"/{self.token}/{path}", json.dumps(fields).encode(), JSON)
        return status, json.loads(body)

    def table(self, path: str, fields: object) -> pa.Table:
        """Send JSON; return the Arrow table that comes back."""
        status, headers, body = self.raw("POST", f"/{self.token}/{path}", json.dumps(fields).encode(), JSON)
        assert status == 200, body
        assert headers["content-type"] == "application/vnd.apache.arrow.stream"
        return pa.ipc.open_stream(body).read_all()

    def lines(self, path: str, fields: object) -> list[Any]:
        """Send JSON; return the JSON of each line that comes back."""
        status, _, body = self.raw("POST", f"/{self.token}/{path}", json.dumps(fields).encode(), JSON)
        assert status == 200, body
        return [json.loads(line) for line in body.splitlines()]


@contextmanager
def client_of(session: Session) -> Iterator[Client]:
    """Serve a session."""
    with session.serve() as serving:
        yield Client(serving)
