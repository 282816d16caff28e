"""Zoom and pan the page for ten seconds in headless Chromium, over many generated spans, as a person would.

Printed are the times between frames, what requests for cells took and how many bytes they brought, the memory of page
and server, and whether a track was empty in any picture of a second run (looking at pictures takes time of its own).
Then the page is zoomed a thousand times (`--zooms`), in and out, over the whole trace, and its heap is printed on the
way. Then traces of three formats are made in `--data`, once, and opened: how long after `dctv ui` was called their
first tracks are drawn, with an index and without. With `--peer` set to a folder that has trace_processor as a script
for node (`peer_trace_processor.js TRACE SQL...`; what it loads is in the folder of `TP_DIST`), screens of one trace are
computed by dctv and by `slice_mipmap` there.

The Chromium is the one that the tests of the page run in.
"""

from __future__ import annotations

import argparse
import base64
import io
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import CDPSession, Locator, Page, Playwright, sync_playwright

from dctv.session import Session

HERE = Path(__file__).resolve().parent
SIZE = {"width": 1920, "height": 1080}
SECONDS = 10
REPEATED = 20
PARTS = (0.1, 0.5, 1)
"""After so much of the zooms what the page holds is printed."""
DEEP = 25
"""Zooms in, after which as many lead out again: the 240th part of the trace is seen then."""
BLANK = 0.97
"""A track is empty if so much of it has one colour: from afar spans of many colours stand everywhere."""
FRAMES = """() => {
    const times = [];
    const next = (time) => { times.push(time); requestAnimationFrame(next); };
    requestAnimationFrame(next);
    performance.clearResourceTimings();
    performance.setResourceTimingBufferSize(100000);
    window.framesOfBenchmark = times;
}"""
REQUESTS = """() => performance.getEntriesByType('resource').filter((entry) => entry.name.endsWith('/api/tiles'))
    .filter((entry) => entry.responseStatus === 200 && entry.requestStart)  // not those that were given up
    .map((entry) => [entry.responseEnd - entry.requestStart, entry.encodedBodySize])"""


@contextmanager
def server(command: Sequence[str], **changes: str) -> Iterator[tuple[str, int]]:
    """Run a server that prints its address first; return the address and the number of its process."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **changes}
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.terminate()


@contextmanager
def opened(playwright: Playwright) -> Iterator[Page]:
    """Start a browser with one page."""
    sys.path.append(str(HERE.parent))
    from tests.page.chromium import FLAGS, chromium, missing

    if reason := missing():
        raise SystemExit(reason)
    with playwright.chromium.launch(executable_path=chromium(), args=FLAGS) as browser:
        yield browser.new_page(viewport=SIZE)


def drawn(page: Page) -> None:
    """Wait until cells of tracks have come and a frame has shown them."""
    page.wait_for_function(
        "() => performance.getEntriesByType('resource').some((entry) => entry.name.endsWith('/api/tiles'))",
        timeout=120_000,
    )
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def timeline(page: Page) -> Locator:
    """Return what tracks are drawn on."""
    return page.get_by_role("application", name=re.compile("^Timeline"))


def zoom(page: Page, *, nearer: bool) -> None:
    """Turn the wheel one click with the control key held."""
    page.mouse.wheel(0, -100 if nearer else 100)


def moves(page: Page, seconds: float) -> None:
    """Zoom in, pan, zoom out and pan, by mouse and by keys, until the time is up."""
    box = _box(timeline(page))
    x, y = box["x"] + box["width"] * 0.6, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    until = time.monotonic() + seconds
    steps = [
        _wheel(page, nearer=True),
        _keys(page, "d"),
        _drag(page, x, y),
        _wheel(page, nearer=False),
        _keys(page, "w"),
    ]
    steps += [_keys(page, "a"), _keys(page, "s")]
    while time.monotonic() < until:
        for step in steps:
            step(min(until, time.monotonic() + 1.0))


def _wheel(page: Page, *, nearer: bool) -> Callable[[float], None]:
    def turn(until: float) -> None:
        page.keyboard.down("Control")
        for _ in range(30):
            if time.monotonic() < until:
                zoom(page, nearer=nearer)
                page.wait_for_timeout(15)
        page.keyboard.up("Control")

    return turn


def _keys(page: Page, key: str) -> Callable[[float], None]:
    def hold(until: float) -> None:
        page.keyboard.down(key)
        page.wait_for_timeout(max(min(0.6, until - time.monotonic()), 0) * 1000)
        page.keyboard.up(key)

    return hold


def _drag(page: Page, x: float, y: float) -> Callable[[float], None]:
    def drag(until: float) -> None:
        page.mouse.down()
        for place in range(40):
            if time.monotonic() < until:
                page.mouse.move(x - 12 * place, y)
                page.wait_for_timeout(10)
        page.mouse.up()
        page.mouse.move(x, y)

    return drag


def told(name: str, values: Sequence[float], unit: str) -> None:
    """Print the median, the 95th percentile and the largest of some values."""
    median, most = statistics.median(values), max(values)
    late = float(np.percentile(values, 95))
    print(f"  {name:<34} median {median:8.1f} {unit}, 95 % {late:8.1f} {unit}, most {most:8.1f} {unit}", flush=True)


def resident(process: int) -> float:
    """Return the MB that a process holds, with and without those of mapped files."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024


def memory(cdp: CDPSession) -> str:
    """Return how large a page's heap is, and the arrays beside it, once what is left over is collected."""
    cdp.send("HeapProfiler.collectGarbage")
    found = cdp.send("Runtime.getHeapUsage")
    return (
        f"{found['usedSize'] / 1e6:.1f} MB of the page's heap, {found['backingStorageSize'] / 1e6:.1f} MB of its arrays"
    )


class Pictures:
    """What the browser showed while a page was used."""

    def __init__(self, cdp: CDPSession) -> None:
        self.shown: list[bytes] = []
        self._cdp = cdp
        self._wanted = True
        cdp.on("Page.screencastFrame", self._keep)
        cdp.send("Page.startScreencast", {"format": "png", "everyNthFrame": 1})

    def _keep(self, frame: dict[str, Any]) -> None:
        if self._wanted:
            self.shown.append(base64.b64decode(frame["data"]))
            self._cdp.send("Page.screencastFrameAck", {"sessionId": frame["sessionId"]})

    def stop(self) -> None:
        """Take no more."""
        self._wanted = False
        self._cdp.send("Page.stopScreencast")


def tracks_in_view(page: Page) -> list[tuple[int, int]]:
    """Return from where to where the tracks stand that are in view as a whole."""
    shown = _box(timeline(page))
    boxes = [_box(row) for row in page.get_by_role("treeitem").filter(has_text="Track ").all()]
    return [
        (round(box["y"]) + 2, round(box["y"] + box["height"]) - 2)
        for box in boxes
        if shown["y"] <= box["y"] and box["y"] + box["height"] <= shown["y"] + shown["height"]
    ]


def _box(locator: Locator) -> Any:
    return locator.bounding_box() or {"x": 0, "y": 0, "width": 0, "height": 0}


def empty(picture: bytes, rows: Sequence[tuple[int, int]], left: int) -> int:
    """Count tracks that have one colour."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    scale = image.width / SIZE["width"]
    pixels = np.asarray(image).astype(np.int64) @ np.array([65536, 256, 1])
    found = 0
    for begin, end in rows:
        part = pixels[int(begin * scale) : int(end * scale), int((left + 10) * scale) : -20]
        _, counts = np.unique(part, return_counts=True)
        found += bool(counts.max() > BLANK * part.size)
    return found


def measure_frames(playwright: Playwright, args: argparse.Namespace) -> None:
    """Print what a screen full of tracks takes while it moves."""
    seconds = args.seconds
    command = [
        sys.executable,
        str(HERE / "page_server.py"),
        str(args.data),
        "--spans",
        str(args.spans),
        "--tracks",
        str(args.tracks),
    ]
    with server(command) as (address, process), opened(playwright) as page:
        cdp = page.context.new_cdp_session(page)
        page.goto(address)
        drawn(page)
        moves(page, 2)  # what the first movements compile, later ones have
        page.evaluate(FRAMES)
        moves(page, seconds)
        frames = np.diff(page.evaluate("() => window.framesOfBenchmark"))
        requests = page.evaluate(REQUESTS)
        print(f"{int(args.spans):,} spans in {args.tracks} tracks, {seconds:g} s of zooming and panning", flush=True)
        told("frames", frames.tolist(), "ms")
        told("requests for cells", [taken for taken, _ in requests], "ms")
        told("bytes of each", [size / 1000 for _, size in requests], "kB")
        total = sum(size for _, size in requests) / 1e6
        print(f"  {len(requests)} requests, {total:.1f} MB; frames a second: {len(frames) / seconds:.1f}")
        print(f"  memory: {memory(cdp)}, {resident(process):.0f} MB of the server's own")
        page.keyboard.press("f")
        look(page, cdp, seconds)
        page.keyboard.press("f")
        zoom_for_long(page, cdp, process, args.zooms)


def zoom_for_long(page: Page, cdp: CDPSession, process: int, most: int) -> None:
    """Zoom in and out again at places all over the trace, and print what the page holds meanwhile."""
    box = _box(timeline(page))
    done = 0
    for part in PARTS:
        while done < most * part:
            place, depth = divmod(done, 2 * DEEP)
            if not depth:
                # Fractions of the golden ratio are nowhere near to each other.
                share = 0.05 + 0.9 * (place * 0.618034 % 1)
                page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] / 2)
            page.keyboard.down("Control")
            zoom(page, nearer=depth < DEEP)
            page.keyboard.up("Control")
            page.wait_for_timeout(30)
            done += 1
        page.wait_for_timeout(1000)  # until the last cells have come
        print(f"  after {done:,} zooms: {memory(cdp)}, {resident(process):.0f} MB of the server's own", flush=True)


def look(page: Page, cdp: CDPSession, seconds: float) -> None:
    """Move again, and look for empty tracks in all pictures."""
    rows = tracks_in_view(page)
    left = round(_box(timeline(page))["x"])
    pictures = Pictures(cdp)
    moves(page, seconds)
    pictures.stop()
    found = sum(empty(picture, rows, left) for picture in pictures.shown)
    print(f"  empty tracks: {found} in {len(pictures.shown)} pictures of {len(rows)} tracks", flush=True)


def generated(folder: Path, scale: float) -> dict[str, Path]:
    """Make traces of three formats, once, and return them."""
    sizes = {"perfetto": 360_000, "pfw": 500_000, "uftrace": 745_000}
    made = {name: folder / f"{name}-{int(size * scale)}" for name, size in sizes.items()}
    for name, size in sizes.items():
        if not made[name].exists():
            option = "--calls" if name == "uftrace" else "--events"
            more = ["--gzip"] if name == "pfw" else []
            words = [str(HERE / f"generate_{name}.py"), str(made[name]), option, str(int(size * scale)), *more]
            subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
    return made


def measure_opening(playwright: Playwright, folder: Path, scale: float) -> None:
    """Print how soon the first tracks of traces are drawn."""
    for trace in generated(folder, scale).values():
        with tempfile.TemporaryDirectory() as cache:
            changes = {"XDG_CACHE_HOME": cache, "PYTHONPATH": str(HERE.parent)}
            dctv = [sys.executable, "-m", "dctv"]
            begin = time.perf_counter()
            index = [*dctv, "index", "--timeline", str(trace)]
            subprocess.run(
                index,
                check=True,
                env={**os.environ, **changes, "XDG_CACHE_HOME": f"{cache}/other"},
                capture_output=True,
            )
            indexing = time.perf_counter() - begin
            taken = []
            with opened(playwright) as page:
                for _ in range(2):
                    begin = time.perf_counter()
                    with server([*dctv, "ui", "--no-open", f"t={trace}"], **changes) as (address, _process):
                        page.goto(address)
                        drawn(page)
                        taken.append(time.perf_counter() - begin)
        print(
            f"{trace.name}: first tracks after {taken[0]:.2f} s ({taken[0] - indexing:+.2f} s beside `dctv index`), "
            f"of one that is indexed after {taken[1]:.2f} s",
            flush=True,
        )


def measure_peer(folder: Path, peer: Path, scale: float) -> None:
    """Print what a screen of a trace of slices takes in dctv, and in trace_processor."""
    trace = folder / f"slices-{int(2e6 * scale)}.pftrace"
    if not trace.exists():
        words = [str(HERE / "generate_perfetto.py"), str(trace), "--slices", "--events", str(int(2e6 * scale))]
        subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
    with Session() as session:
        session.mount(str(trace), "t")
        timeline = session.timeline("t")
        tracks = [track.id for track in timeline.tracks if track.kind.value == "slices"]
        rows = sum(timeline.tracks[track].rows for track in tracks)
        print(f"{rows:,} slices in {len(tracks)} tracks, screens of {SIZE['width']} pixels")
        length = timeline.end - timeline.begin
        for part in (1, 10, 100):
            begin, width = timeline.begin + length // 3 * (part > 1), length // part
            step = 1 << max((width // SIZE["width"]).bit_length(), 0)
            begin -= begin % step
            taken, cells = [], 0
            for _ in range(REPEATED):
                before = time.perf_counter()
                cells = timeline.cells(tracks, begin, begin + width, step).num_rows
                taken.append((time.perf_counter() - before) * 1000)
            other, found = by_peer(peer, trace, (begin - timeline.begin, begin - timeline.begin + width, step))
            own = f"{statistics.median(taken):.2f} ms, {cells:,} cells"
            print(f"  1/{part}: {own}; trace_processor {other:.2f} ms, {found:,} cells", flush=True)


def by_peer(peer: Path, trace: Path, screen: tuple[int, int, int]) -> tuple[float, int]:
    """Return how many ms the peer takes for a screen, from the first slice on, and its cells."""
    table = "SELECT id, ts - (SELECT MIN(ts) FROM slice) AS ts, dur, track_id * 64 + depth AS depth FROM slice"
    make = f"CREATE VIRTUAL TABLE mip USING __intrinsic_slice_mipmap(({table} WHERE dur >= 0))"
    # Adding up makes it compute all of them, and telling one line takes no time.
    ask = "SELECT COUNT(*), SUM(dur), SUM(ts) FROM mip({}, {}, {})".format(*screen)
    taken = []
    for times in (1, 1 + 50 * REPEATED):  # what loading takes is in both
        command = ["node", str(peer / "peer_trace_processor.js"), str(trace), make, *([ask] * times)]
        before = time.perf_counter()
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        taken.append(time.perf_counter() - before)
    return (taken[1] - taken[0]) * 1000 / (50 * REPEATED), int(done.stdout.split()[-3])


def main() -> None:
    """Measure all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=float, default=1e8)
    parser.add_argument("--tracks", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--zooms", type=int, default=1000)
    parser.add_argument("--scale", type=float, default=1, help="of the traces that are opened (default: 1)")
    parser.add_argument("--data", type=Path, default=HERE / "data", help="where what is generated is kept")
    parser.add_argument("--peer", type=Path, help="a folder with peer_trace_processor.js")
    args = parser.parse_args()
    args.data.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        measure_frames(playwright, args)
        measure_opening(playwright, args.data, args.scale)
    if args.peer is not None:
        measure_peer(args.data, args.peer, args.scale)


if __name__ == "__main__":
    main()
