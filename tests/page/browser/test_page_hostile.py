"""Hostile or broken traces, pages and servers: names are text, other origins get nothing, and content stays."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.page.browser.conftest import Open
from tests.page.served import CHROME, FTRACE
from tests.page.view import View, box_of, until

MARKUP = "<img src=x onerror=\"window.harm='%s'\">"
LOST = "ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_INCOMPLETE_CHUNKED|Failed to fetch"


def event(name: str, ts: float, dur: float, **more: object) -> dict[str, object]:
    return {"ph": "X", "pid": 1, "tid": 1, "name": name, "ts": ts, "dur": dur, **more}


def test_names_with_markup_are_text(view_of_own: Open, open_page: Callable[..., Page], tmp_path: Path) -> None:
    """Also names of tracks, counters and files, arguments, and results of searches, selections and queries."""
    trace = tmp_path / "harm.json"
    slice_name, script = MARKUP % "slice", "</script><script>window.harm='script'</script>"
    events = [
        {"ph": "M", "pid": 1, "tid": 1, "name": "process_name", "args": {"name": MARKUP % "process"}},
        {"ph": "M", "pid": 1, "tid": 1, "name": "thread_name", "args": {"name": script}},
        event(slice_name, 0, 100, args={MARKUP % "key": MARKUP % "value"}),
        event(script, 10, 50),
        {"ph": "C", "pid": 1, "tid": 1, "name": MARKUP % "counter", "ts": 5, "args": {MARKUP % "series": 4}},
        {"ph": "i", "pid": 1, "tid": 1, "name": MARKUP % "instant", "ts": 7, "s": "t"},
    ]
    trace.write_text(json.dumps(events), encoding="utf-8")
    view = view_of_own(trace)
    expect(view.tracks).to_contain_text(MARKUP % "process")
    view.find("<img")
    expect(view.panel("Details")).to_contain_text(slice_name)
    expect(view.panel("Details")).to_contain_text(MARKUP % "value")
    view.timeline.focus()
    view.press("r")
    expect(view.grid("Slices by name")).to_contain_text(slice_name)
    view.run("SELECT name, '<b>' AS b FROM t.timeline")
    expect(view.page.get_by_role("gridcell", name=MARKUP % "process")).to_be_visible()
    box = box_of(view.timeline)
    view.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
    with view.page.expect_download() as download:
        view.page.get_by_role("button", name="Save").click()
    download.value.save_as(tmp_path / "saved.html")
    saved = View(open_page(offline=True), view.server)
    saved.page.goto((tmp_path / "saved.html").as_uri())
    expect(saved.tracks).to_contain_text(MARKUP % "process")
    for page in (view.page, saved.page):
        assert page.evaluate("[document.images.length, window.harm ?? null]") == [0, None]


@pytest.fixture
def elsewhere() -> Iterator[Callable[[str], str]]:
    """Serve a page from another port."""
    pages: dict[str, bytes] = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(pages.get(self.path, b""))

        def log_message(self, *args: Any) -> None:
            del args

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def put(text: str) -> str:
        pages["/"] = text.encode()
        return f"http://127.0.0.1:{server.server_port}/"

    yield put
    server.shutdown()
    server.server_close()


def test_a_page_of_another_origin_gets_nothing(
    open_page: Callable[..., Page], view_of: Open, elsewhere: Callable[[str], str]
) -> None:
    """Even if it knows the address."""
    view = view_of(FTRACE)
    address = view.server.address
    page = open_page(expected=".")
    page.goto(elsewhere("<!doctype html><title>elsewhere</title>"))
    got = page.evaluate(
        """async (address) => {
            const tried = {};
            const headers = { 'content-type': 'application/json' };
            const json = { method: 'POST', body: '{"sql": "SELECT 1 AS a"}', headers };
            const attempts = {
                read: () => fetch(`${address}api/session`),
                ask: () => fetch(`${address}api/query`, json),
                blind: () => fetch(`${address}api/session`, { mode: 'no-cors' })
                    .then((answer) => answer.text())
                    .then((text) => text || Promise.reject()),
                listen: () => new Promise((done, fail) => {
                    const source = new EventSource(`${address}api/events`);
                    source.onopen = done;
                    source.onerror = fail;
                }),
                script: () => new Promise((done, fail) => {
                    const script = Object.assign(document.createElement('script'), { onload: done, onerror: fail });
                    script.src = `${address}assets/app.js`;
                    document.head.append(script);
                }),
                frame: () => new Promise((done, fail) => {
                    const frame = document.createElement('iframe');
                    frame.onload = () => {
                        try {
                            frame.contentWindow.document.body.innerHTML ? done() : fail();
                        } catch {
                            fail();
                        }
                    };
                    frame.src = address;
                    document.body.append(frame);
                }),
            };
            for (const [name, attempt] of Object.entries(attempts)) {
                tried[name] = await attempt().then(() => 'got it', () => 'nothing');
            }
            return tried;
        }""",
        address,
    )
    assert got == dict.fromkeys(("read", "ask", "blind", "listen", "script", "frame"), "nothing")
    assert page.frames[-1].locator("#app").count() == 0
    assert view.server.get("api/session").status == 200


def test_an_address_without_its_token_shows_no_page(open_page: Callable[..., Page], view_of: Open) -> None:
    server = view_of(FTRACE).server
    page = open_page(expected="403")
    for address in (f"http://127.0.0.1:{server.port}/", server.address.replace(server.token, "x" * 32)):
        answer = page.goto(address)
        assert answer is not None
        assert answer.status == 403
        expect(page.locator("body")).to_contain_text("the address has no token")


@pytest.mark.parametrize("how", ["ended", "killed"])
def test_the_page_keeps_its_content_when_the_server_stops(view_of_own: Open, how: str) -> None:
    view = view_of_own(FTRACE, ends=False, expected=LOST)
    view.page.wait_for_timeout(300)
    names = view.tracks.get_by_role("treeitem").all_inner_texts()
    if how == "ended":
        assert view.server.stop() == 0
        expect(view.page.get_by_role("alert").filter(has_text="The server has stopped")).to_be_visible()
    else:
        view.server.process.kill()
        view.server.process.wait()
        expect(view.page.get_by_role("alert").filter(has_text="Connection lost")).to_be_visible()
    view.moved(lambda: view.zoom(0.5, 2))
    assert view.colours(box_of(view.timeline)) > 10
    assert view.tracks.get_by_role("treeitem").all_inner_texts()[:3] == names[:3]
    view.run("SELECT 1 AS a")
    expect(view.page.get_by_role("alert").last).to_be_visible()


def test_ten_thousand_tracks(view_of_own: Open, tmp_path: Path) -> None:
    trace = tmp_path / "many.json"
    named = [
        {"ph": "M", "pid": 1, "tid": tid, "name": "thread_name", "args": {"name": f"worker {tid}"}}
        for tid in range(1, 10_001)
    ]
    slices = [event(f"work {tid}", tid, 5_000, tid=tid) for tid in range(1, 10_001)]
    trace.write_text(json.dumps([*named, *slices]), encoding="utf-8")
    view = view_of_own(trace)
    assert view.tracks.get_by_role("treeitem").count() < 60
    view.press("Control+p")
    view.page.keyboard.type("worker 9999")
    view.press("Enter")
    row = view.tracks.get_by_role("treeitem").filter(has_text="worker 9999")
    expect(row.first).to_be_visible()
    view.timeline.focus()
    view.moved(lambda: view.zoom(0.5, 3))
    place = box_of(view.timeline)
    until(lambda: view.colours(place) > 5, "nothing is drawn")
    assert view.page.evaluate("document.querySelectorAll('*').length") < 3000


def test_a_second_trace_is_dropped_and_aligned(view_of_own: Open) -> None:
    view = view_of_own(CHROME)
    transfer = view.page.evaluate_handle(
        """([name, text]) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([text], name, { type: 'application/json' }));
            return transfer;
        }""",
        ["second run.json", CHROME.read_text(encoding="utf-8")],
    )
    for kind in ("dragenter", "dragover", "drop"):
        view.page.locator("body").dispatch_event(kind, {"dataTransfer": transfer})
    roots = view.tracks.get_by_role("treeitem", level=1)
    expect(roots).to_have_count(2)
    assert [root.inner_text().split("\n")[0] for root in roots.all()] == ["t", "second_run"]
    roots.last.get_by_role("button", name="±0").click()
    dialog = view.page.get_by_role("dialog", name="Align traces")
    dialog.get_by_label("second_run").fill("-150 us")
    dialog.get_by_role("button", name="Done").click()
    until(lambda: view.told.get("offsets") == "second_run:-150000", "the address does not tell the offset")
    view.rested()
    row, box = box_of(roots.last), box_of(view.timeline)
    y = row["y"] + row["height"] * 1.5
    start = box["x"] + box["width"] * 0.4
    begin, end = view.shown
    view.drag((start, y), (start + 100, y), "Alt")
    until(lambda: view.told.get("offsets") != "second_run:-150000", "dragging moves nothing")
    moved = int(view.told["offsets"].rpartition(":")[2])
    assert moved == pytest.approx(-150_000 + 100 / box["width"] * (end - begin), abs=(end - begin) / box["width"] * 2)


def test_a_dropped_file_that_is_no_trace_is_refused_in_words(view_of_own: Open) -> None:
    view = view_of_own(CHROME, expected="status of 4")
    with view.page.expect_file_chooser() as chooser:
        view.page.get_by_role("button", name="Open…").click()
    notes = FilePayload(name="notes.bin", mimeType="application/octet-stream", buffer=bytes(range(256)))
    chooser.value.set_files(notes)
    expect(view.page.get_by_role("alert").first).to_contain_text("notes")
    assert view.tracks.get_by_role("treeitem").count() > 0
