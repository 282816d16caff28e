"""Run the server in a separate thread: address, progress, and a clean stop."""

from __future__ import annotations

import socket
import threading
from types import TracebackType
from typing import TYPE_CHECKING

from dctv.errors import UsageError, reason_of
from dctv.progress import ProgressListener
from dctv.web.guard import Guard, new_token
from dctv.web.host import Host
from dctv.web.service import Service
from dctv.web.uploads import Uploads

if TYPE_CHECKING:
    from uvicorn import Server

LOOPBACK = "127.0.0.1"
_MOST_PORT = 65_535


class Serving:
    """A page that is served until it is stopped; may be used in a `with` statement."""

    def __init__(self, service: Service, server: Server, listening: socket.socket, token: str) -> None:
        self.service = service
        self.port: int = listening.getsockname()[1]
        self.address: str = f"http://{LOOPBACK}:{self.port}/{token}/"
        """The address for a browser; it gives full access to the session."""
        self._server = server
        self._listening = listening
        self._thread = threading.Thread(target=self._run, name="dctv-server", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self._server.run(sockets=[self._listening])

    def with_listener(self, progress: ProgressListener | None) -> ProgressListener:
        """Return a listener that reports progress to the pages and to another listener."""

        def both(label: str, done: int, total: int) -> None:
            self.service.progress(label, done, total)
            if progress is not None:
                progress(label, done, total)

        return both

    def stop(self) -> None:
        """Notify pages, interrupt running work, and wait for the server; dropped files are removed."""
        self.service.news.end()
        self.service.turns.stop()
        self._server.should_exit = True
        self._thread.join(_PATIENCE)
        self._listening.close()
        self.service.uploads.close()

    def __enter__(self) -> Serving:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


def serve(host: Host, *, port: int = 0, uploads: Uploads | None = None) -> Serving:
    """Serve a session on the loopback interface; return at once.

    Raises:
        UsageError: the port is taken, or a package of `dctv[ui]` is missing.
    """
    try:
        import uvicorn

        from dctv.web.routes import site  # starlette
    except ImportError as error:
        raise UsageError(f"the page needs {error.name}", hint="pip install 'dctv[ui]'") from None
    listening = _listen(port)
    token = new_token()
    service = Service(host, uploads or Uploads(host.spill_folder))
    guard = Guard(site(service), token, listening.getsockname()[1])
    # Requests are not logged: their paths contain the token. Neither are those that stopping the server cancels.
    config = uvicorn.Config(
        guard,
        log_config=None,
        log_level="critical",
        access_log=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    return Serving(service, uvicorn.Server(config), listening, token)


def _listen(port: int) -> socket.socket:
    if not 0 <= port <= _MOST_PORT:
        raise UsageError(f"expected a port from 0 to {_MOST_PORT}, found {port}")
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        reason = reason_of(error)
        raise UsageError(f"cannot listen on port {port}: {reason}", hint="--port 0 chooses a free port") from None
    return listening


_PATIENCE = 5.0
"""Seconds to wait for the server to end."""
