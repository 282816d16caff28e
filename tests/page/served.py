"""Run `dctv ui` as a separate process, and send it the requests of a page."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.command_line import COMMAND, ROOT, environment

PATIENCE = 60.0
"""Seconds; a busy machine may take that long for what takes one."""
DATA = ROOT / "tests" / "data"
PERFETTO = DATA / "perfetto" / "linux_sys_deflate.pftrace"
FTRACE = DATA / "ftrace" / "live_marks.trace.txt.gz"
CHROME = DATA / "stdlib" / "nesting.json"
DFTRACER = DATA / "dftracer" / "loader"
UFTRACE = DATA / "uftrace" / "switches"
TRACE_DAT = DATA / "trace_dat" / "live_marks.dat"
PERF = DATA / "perf" / "cpuclock.data"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def message(self) -> str:
        return str(self.json()["error"]["message"])


@dataclass(frozen=True)
class Served:
    """A server that runs."""

    address: str
    process: subprocess.Popen[str]
    complaints: Path

    @property
    def port(self) -> int:
        return urlsplit(self.address).port or 0

    @property
    def token(self) -> str:
        return urlsplit(self.address).path.strip("/")

    def raw(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Request a path of the host; only the given headers are sent, besides Host and the length."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.putrequest(method, path, skip_host="host" in (headers or {}), skip_accept_encoding=True)
            for name, value in (headers or {}).items():
                connection.putheader(name, value)
            if body is not None and "content-length" not in (headers or {}):
                connection.putheader("content-length", str(len(body)))
            connection.endheaders(body)
            got = connection.getresponse()
            return Answer(got.status, {name.lower(): value for name, value in got.getheaders()}, got.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.raw("GET", f"/{self.token}/{path}", headers=headers)

    def post(self, path: str, fields: object, **headers: str) -> Answer:
        all_headers = {"content-type": "application/json", **headers}
        return self.raw("POST", f"/{self.token}/{path}", json.dumps(fields).encode(), all_headers)

    def tracks(self) -> list[dict[str, Any]]:
        tracks: list[dict[str, Any]] = self.get("api/tracks").json()["tracks"]
        return tracks

    def wait(self) -> None:
        """Wait until all traces are mounted."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            states = {mount["state"] for mount in self.get("api/session").json()["mounts"]}
            if "mounting" not in states:
                return
            time.sleep(0.05)
        raise AssertionError("a trace is still being mounted")

    def stop(self) -> int:
        """Stop it as Ctrl-C does; return its exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)


@contextmanager
def served(home: Path, *words: str | Path, ends: bool = True) -> Iterator[Served]:
    """Run `dctv ui` until the block ends; it must end in order then, unless it is to be killed in the block."""
    home.mkdir(parents=True, exist_ok=True)
    complaints = home / "complaints"
    command = [*COMMAND, "ui", "--no-open", "--port", "0", *map(str, words)]
    changes = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "TMPDIR": str(home), "PYTHONUNBUFFERED": "1"}
    with complaints.open("w") as file:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=file, text=True, cwd=ROOT, env=environment(**changes)
        )
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), complaints.read_text()
        yield Served(address, process, complaints)
        if ends:
            code = Served(address, process, complaints).stop()
            assert (code, "Traceback" in complaints.read_text()) == (0, False), complaints.read_text()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()


def memory_of(process: int) -> int:
    """Return the bytes of memory that a process holds."""
    pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
