"""Nothing is answered but to the page that the server gave out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from dctv import Session
from tests.web_client import JSON, Client, client_of


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with Session() as session, client_of(session) as client:
        yield client


def _asked(client: Client, headers: dict[str, str], method: str = "GET", path: str = "api/session") -> int:
    body = b"{}" if method == "POST" else None
    return client.raw(method, f"/{client.token}/{path}", body, headers)[0]


def test_requests_of_the_page_are_answered(client: Client) -> None:
    own = f"http://127.0.0.1:{client.serving.port}"
    assert _asked(client, {}) == 200
    assert _asked(client, {"origin": own, "sec-fetch-site": "same-origin"}) == 200
    assert _asked(client, {"host": f"localhost:{client.serving.port}"}) == 200


@pytest.mark.parametrize(
    "path",
    ["/", "/api/session", "//api/session", "/{wrong}/api/session", "/{token}x/api/session", "/{token}%00/api/session"],
)
def test_requests_without_the_token_are_refused(client: Client, path: str) -> None:
    wrong = client.token[:-1] + ("a" if client.token[-1] != "a" else "b")
    status, headers, body = client.raw("GET", path.format(wrong=wrong, token=client.token))
    assert status == 403
    assert "open the address" in json.loads(body)["error"]["hint"]
    assert client.token not in str(headers) + body.decode()


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:80", ""])
def test_another_host_is_refused(client: Client, host: str) -> None:
    """A page whose name was rebound to this host (DNS rebinding) is recognized by its Host header."""
    assert _asked(client, {"host": host}) in {400, 403}


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "https://127.0.0.1:{port}"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_origin_is_refused(client: Client, headers: dict[str, str], method: str) -> None:
    """Also with the token; a page on another port of this machine is of another origin."""
    sent = {name: value.format(port=client.serving.port) for name, value in headers.items()}
    path = "api/session" if method == "GET" else "api/interrupt"
    assert _asked(client, {**sent, **JSON}, method, path) == 403


def test_a_link_may_open_the_page(client: Client) -> None:
    """As from a terminal in the browser; the page cannot be read by the one that links to it."""
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert _asked(client, headers, path="") in {200, 503}
    assert _asked(client, headers | {"sec-fetch-mode": "no-cors"}, path="") == 403


def test_every_answer_has_a_content_security_policy(client: Client) -> None:
    for path in ("", "api/session", "nothing", "../../etc/passwd", "assets/..%2findex.html"):
        _, headers, _ = client.raw("GET", f"/{client.token}/{path}")
        policy = dict(part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == "'self'"
        assert "unsafe" not in str(policy)
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"
        assert not [name for name in headers if name.startswith("access-control")]
    assert client.raw("GET", "/")[1]["content-security-policy"]


def test_only_files_of_the_page_are_assets(client: Client) -> None:
    for path in ("assets/../../session.py", "assets/%2e%2e/%2e%2e/session.py", "assets//etc/passwd", "session.py"):
        assert client.raw("GET", f"/{client.token}/{path}")[0] == 404


def test_invalid_json_is_refused(client: Client) -> None:
    """A form of another page cannot send JSON."""
    for kind, body in (
        ("text/plain", b'{"sql": "SELECT 1"}'),
        ("", b'{"sql": "SELECT 1"}'),
        ("application/json", b"{"),
        ("application/json", b"[1]"),
        ("application/json", b"[" * 100_000),
        ("application/json", b'{"sql": 3}'),
        ("application/json", b"\xff\xfe"),
    ):
        status, _, answer = client.raw("POST", f"/{client.token}/api/query", body, {"content-type": kind})
        assert status == 400, body[:20]
        assert json.loads(answer)["error"]["message"].startswith(("expected", "the request is not JSON"))


def test_a_large_request_is_cut_off(client: Client) -> None:
    status, answer = client.send("api/query", {"sql": "x" * (9 << 20)})
    assert (status, answer["error"]["message"]) == (413, "the request is larger than 8 MiB")


def test_tokens_are_long_and_differ() -> None:
    with Session() as session, client_of(session) as one, client_of(session) as other:
        assert one.token != other.token
        assert re.fullmatch(r"[\w-]{32}", one.token)
        assert other.raw("GET", f"/{one.token}/api/session")[0] == 403
