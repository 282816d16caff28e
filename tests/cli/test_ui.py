"""`dctv ui`: an address at once, mounts while it serves, an end by Ctrl-C."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dctv.web import browser, page
from tests.command_line import COMMAND, environment, run, run_process

DATA = Path(__file__).resolve().parents[1] / "data"
WAITS = DATA / "stdlib" / "waits.trace.txt"
_PATIENCE = 60


class Running:
    """A server in a separate process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.process = process
        self.address = process.stdout.readline().strip()

    def get(self, path: str) -> Any:
        """Return the JSON of an answer."""
        with urllib.request.urlopen(self.address + path, timeout=_PATIENCE) as answer:
            return json.load(answer)

    def mounts(self) -> dict[str, dict[str, Any]]:
        """Return the mounts, once none is pending."""
        for _ in range(10 * _PATIENCE):
            by_name = {one["name"]: one for one in self.get("api/session")["mounts"]}
            if all(one["state"] != "mounting" for one in by_name.values()):
                return by_name
            time.sleep(0.1)
        raise AssertionError("it is still mounting")

    def kinds_of_report(self, path: Path) -> list[str]:
        """Ask for a report; return what came of its statements."""
        body = json.dumps({"name": str(path), "text": path.read_text()}).encode()
        asked = urllib.request.Request(self.address + "api/report", body, {"content-type": "application/json"})
        with urllib.request.urlopen(asked, timeout=_PATIENCE) as answer:
            return [json.loads(line)["kind"] for line in answer]

    def end(self, number: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        """End it; return the exit code and what it said."""
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=_PATIENCE)
        return self.process.returncode, err


@contextmanager
def serving(*words: str | Path) -> Iterator[Running]:
    """Start `dctv ui`."""
    with subprocess.Popen(
        [*COMMAND, "ui", "--no-open", *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True,
    ) as process:  # fmt: skip
        try:
            yield Running(process)
        finally:
            process.kill()


@pytest.fixture(autouse=True)
def _built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "is_built", lambda: True)


def test_it_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    views = tmp_path / "views.sql"
    views.write_text("CREATE VIEW mine AS SELECT comm FROM w.scheduler.timeslices; ASSERT 1 = 2, 'never';")
    with serving(f"w={WAITS}", WAITS, "nothing=/does/not/exist", "-f", views) as running:
        mounts = running.mounts()
        assert {name: one["state"] for name, one in mounts.items()} == {
            "w": "ready",
            "waits": "ready",
            "nothing": "failed",
        }
        assert "/does/not/exist" in mounts["nothing"]["message"]
        roots = [one for one in running.get("api/tracks")["tracks"] if one["parent"] is None]
        assert [one["name"] for one in roots] == ["w", "waits"]
        for _ in range(100):
            if running.get("api/session")["report"]:
                break
            time.sleep(0.1)
        assert running.get("api/session")["report"] == {"name": str(views), "text": views.read_text()}
        assert running.get("api/columns?table=mine")["columns"][0]["name"] == "comm"
        for _ in range(2):  # what `-f` gave runs once: its views would be made again, which fails
            assert running.kinds_of_report(views) == ["done", "assert"]
        code, err = running.end()
    assert code == 0
    assert err.endswith("stopped\n")
    assert "error: " in err
    assert "Traceback" not in err


def test_sigterm_ends_it() -> None:
    with serving() as running:
        assert running.get("api/session")["mounts"] == []
        code, err = running.end(signal.SIGTERM)
        assert (code, err.splitlines()[-1]) == (143, "error: terminated")
        with pytest.raises(urllib.error.URLError):
            running.get("api/session")


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = run("ui", "--no-open", "--port", str(port))
    assert (ran.code, ran.err) == (
        2,
        f"error: cannot listen on port {port}: address already in use\nhint: --port 0 chooses a free port\n",
    )


def test_ports_are_numbers() -> None:
    ran = run("ui", "--port", "70000")
    assert ran.code == 2
    assert "found `--port 70000`, expected a number from 0 to 65535" in ran.err


WITHOUT = """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "uvicorn":
            raise ModuleNotFoundError("No module named 'uvicorn'", name="uvicorn")
sys.meta_path.insert(0, Finder())
from dctv.cli import main
sys.exit(main(["ui", "--no-open"]))
"""


def test_without_its_packages_the_error_says_what_to_install() -> None:
    ran = subprocess.run(
        [COMMAND[0], "-c", WITHOUT], capture_output=True, text=True, env=environment(), check=False, timeout=_PATIENCE
    )
    assert (ran.returncode, ran.stderr) == (2, "error: the page needs uvicorn\nhint: pip install 'dctv[ui]'\n")


def test_an_unbuilt_page_says_how_to_build_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(page, "folder", lambda: tmp_path)
    from dctv import Session

    with Session() as session, session.serve() as running:
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(running.address)
        assert (caught.value.code, caught.value.read().decode()) == (503, f"{page.MISSING}\n{page.WAY_OUT}\n")
        caught.value.close()


@pytest.mark.parametrize("screen", ["", ":0"])
def test_a_browser_is_opened_where_there_is_a_screen(screen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", screen)
    browser.open_browser("http://127.0.0.1:1/x/")
    for _ in range(50):
        if opened or not screen:
            break
        time.sleep(0.02)
    assert opened == (["http://127.0.0.1:1/x/"] if screen else [])


def test_the_prompt_opens_the_page_of_its_session() -> None:
    ran = run_process("repl", stdin=".ui\n.ui\nSELECT 1 AS x;\n", DISPLAY="", WAYLAND_DISPLAY="")
    first, second = ran.err.splitlines()
    assert first == second
    assert first.startswith("http://127.0.0.1:")
    assert (ran.code, ran.out.split()) == (0, ["x", "-", "1"])
