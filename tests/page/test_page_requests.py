"""Pages of other origins, and clients without the address, get nothing from `dctv ui`."""

from __future__ import annotations

import json
import re
import socket
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.page.served import CHROME, FTRACE, Served, served

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}


@pytest.fixture(scope="module")
def server(server_of: Callable[[Path], Served]) -> Served:
    return server_of(CHROME)


def test_it_answers_on_this_machine_only(server: Served) -> None:
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{22,}/", server.address)
    assert server.get("api/session").status == 200
    listening = {line.split()[1] for name in ("tcp", "tcp6") for line in _sockets(name) if line.split()[3] == "0A"}
    assert [at for at in listening if at.endswith(f":{server.port:04X}")] == [f"0100007F:{server.port:04X}"]


def _sockets(name: str) -> list[str]:
    path = Path("/proc/net") / name
    return path.read_text(encoding="ascii").splitlines()[1:] if path.exists() else []


@pytest.mark.parametrize("path", ["", "api/session", "api/tracks", "api/events", "assets/app.js"])
@pytest.mark.parametrize("token", ["", "wrong", "{token}x", "{half}", "%2e%2e/{token}", "{upper}"])
def test_no_address_is_guessed(server: Served, token: str, path: str) -> None:
    words = {"token": server.token, "half": server.token[: len(server.token) // 2], "upper": server.token.swapcase()}
    answer = server.raw("GET", f"/{token.format(**words)}/{path}".replace("//", "/"))
    assert answer.status == 403
    assert server.token.encode() not in answer.body


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "127.0.0.1.evil.example:{port}"]
)
def test_another_host_is_refused(server: Served, host: str) -> None:
    """A name that leads to this machine does not make a page of that name one of ours."""
    answer = server.get("api/session", host=host.format(port=server.port))
    assert (answer.status, answer.message) == (403, "the request is for another host")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}"])
def test_another_origin_is_refused(server: Served, origin: str) -> None:
    asked = {"sql": "SELECT 1 AS a"}
    answer = server.post("api/query", asked, origin=origin.format(port=server.port))
    assert (answer.status, answer.message) == (403, "the request comes from a page of another origin")
    assert server.post("api/query", asked, origin=f"http://127.0.0.1:{server.port}").status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_requests_from_another_site_are_refused(server: Served, site: str) -> None:
    for path, mode in (("api/session", "no-cors"), ("assets/app.js", "no-cors"), ("", "no-cors"), ("", "cors")):
        headers = {"sec-fetch-site": site, "sec-fetch-mode": mode}
        assert server.get(path, **headers).status == 403


def test_nobody_is_allowed_to_read_from_elsewhere(server: Served) -> None:
    asked = server.raw(
        "OPTIONS",
        f"/{server.token}/api/query",
        headers={"origin": "http://evil.example", "access-control-request-method": "POST"},
    )
    answers = [asked, server.get("api/session"), server.get(""), server.raw("GET", "/")]
    assert asked.status in (403, 405)
    for answer in answers:
        assert not [name for name in answer.headers if name.startswith("access-control-")]


@pytest.mark.parametrize("path", ["", "api/session", "assets/none.js", "api/none"])
def test_every_answer_has_the_policy(server: Served, path: str) -> None:
    headers = server.get(path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert {name: policy.get(name) for name in POLICY} == POLICY
    assert "unsafe" not in headers["content-security-policy"]
    assert "http" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "assets/../../../pyproject.toml",
        "assets/..%2f..%2f..%2fpyproject.toml",
        "assets/%2fetc%2fpasswd",
        "../grammar.json",
    ],
)
def test_only_files_of_the_page_are_sent(server: Served, path: str) -> None:
    assert server.get(path).status in (403, 404)


def test_a_form_of_another_page_has_no_effect(server: Served) -> None:
    """A form can send text, but not JSON, without being asked whether it may."""
    body = json.dumps({"sql": "SELECT 1 AS a"}).encode()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        answer = server.raw("POST", f"/{server.token}/api/query", body, {"content-type": kind})
        assert answer.status == 400, kind


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b"[" * 100_000, b"\xff", b'{"sql": 1}', b'{"sql": "SELECT"}']
)
def test_broken_requests_get_an_error_in_words(server: Served, body: bytes) -> None:
    headers = {"content-type": "application/json"}
    answer = server.raw("POST", f"/{server.token}/api/query", body, headers)
    assert answer.status == 400
    assert {"message", "hint", "rendered", "place"} <= set(answer.json()["error"])
    assert "Traceback" not in answer.body.decode()


def test_a_large_request_is_refused(server: Served) -> None:
    answer = server.raw(
        "POST",
        f"/{server.token}/api/query",
        b'{"sql": "' + b" " * (9 << 20) + b'"}',
        {"content-type": "application/json"},
    )
    assert answer.status == 413


def test_a_huge_upload_is_refused_before_it_is_sent(server: Served) -> None:
    head = {"content-type": "application/octet-stream", "content-length": str(1 << 40)}
    begin = time.monotonic()
    answer = server.raw("POST", f"/{server.token}/api/upload?name=huge.json", headers=head)
    assert answer.status == 413
    assert "the file is larger than" in answer.message
    assert time.monotonic() - begin < 10


@pytest.mark.parametrize("path", [str(FTRACE), "tests/data/stdlib/browser.json", "/etc/passwd", "."])
def test_a_page_mounts_no_path(server: Served, path: str) -> None:
    answer = server.post("api/query", {"sql": f"MOUNT TRACE '{path}' AS other"})
    assert answer.status == 400
    assert answer.message.startswith("the page mounts only what `dctv ui` was given")
    assert [mount["name"] for mount in server.get("api/session").json()["mounts"]] == ["t"]


def test_a_dropped_file_is_private_and_deleted_at_the_end(tmp_path: Path) -> None:
    home = tmp_path / "rows"
    with served(tmp_path, "--temp-directory", home, f"t={CHROME}") as server:
        answer = server.raw(
            "POST",
            f"/{server.token}/api/upload?name=..%2F..%2Fmore.json",
            CHROME.read_bytes(),
            {"content-type": "application/octet-stream"},
        )
        assert (answer.status, answer.json()) == (200, {"mount": "more"})
        server.wait()
        (kept,) = home.rglob("more.json")
        folders = [path for path in kept.parents if path.is_relative_to(home) and path != home]
        assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}
        mounts = server.get("api/session").json()["mounts"]
        assert {mount["state"] for mount in mounts} == {"ready"}, mounts
    assert list(home.iterdir()) == []


def test_a_broken_connection_leaves_a_server(server: Served) -> None:
    for sent in (b"", b"GET", b"\x00\xff" * 100, b"POST /x HTTP/1.1\r\ncontent-length: 100\r\n\r\nhalf"):
        with socket.create_connection(("127.0.0.1", server.port), 5) as connection:
            connection.sendall(sent)
    assert server.get("api/session").status == 200


def test_it_ends_at_ctrl_c_while_pages_listen(tmp_path: Path) -> None:
    with served(tmp_path, f"t={CHROME}") as server:
        server.wait()
        with socket.create_connection(("127.0.0.1", server.port), 5) as listening:
            head = f"GET /{server.token}/api/events HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\n\r\n"
            listening.sendall(head.encode())
            assert b"200" in listening.recv(1000)
            begin = time.monotonic()
            assert server.stop() == 0
            assert time.monotonic() - begin < 10
            listening.settimeout(5)
            received = b""
            while piece := listening.recv(1000):
                received += piece
            assert b"event: end" in received
