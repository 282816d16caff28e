"""Print the cost and the savings of an index: CPU seconds, wall seconds, peak memory, disk, beside dftracer-utils.

Run as `python benchmarks/index.py FOLDER... [--rounds 5] [--shapes]`, where each folder holds `.pfw.gz` files and the
`expected.json` of their generator, such as `benchmarks/generate_pfw.py` writes. With `DCTV_PEER_DFTRACER` set to the
folder of dftracer-utils' programs these run on the same files in the same rounds. `--shapes` adds a folder of 1,000
small files and one gzip member of all the text, made of the last folder. Figures are medians; processes are new ones.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

from processes import Run, dctv, run, show, size_of

RARE = "SELECT * FROM t.raw_events.{rare}"
OVERLAP = """WITH calls AS (SELECT SPAN * FROM dctv.as_spans(
        (SELECT _ts, _duration, pid, tid, name FROM t.events WHERE category = 'POSIX'),
        partition=>["pid", "tid"]{more})),
    steps AS (SELECT SPAN * FROM dctv.as_spans(
        (SELECT _ts, dur AS _duration, pid, tid FROM t.raw_events.train_step), partition=>["pid", "tid"]{more}))
    SELECT name, COUNT(*), SUM(_duration) FROM calls SPAN JOIN steps GROUP BY name"""
"""Events of a trace come in order of time, so `sorted=>TRUE` may say so."""
QUESTIONS = {
    "rows of a rare name": RARE,
    "rows by hash": "SELECT * FROM t.raw_events.open64 WHERE fhash = '{hash}'",
    "rows by path": "SELECT * FROM t.raw_events.open64 WHERE fname = '{path}'",
    "group by name": "SELECT name, COUNT(*), SUM(_duration) FROM t.events GROUP BY name",
    "group by name, filtered": "SELECT name, COUNT(*), SUM(_duration) FROM t.events WHERE tid > 0 GROUP BY name",
    "100 ms buckets": "SELECT _ts // 100ms AS bucket, name, COUNT(*) FROM t.events GROUP BY bucket, name",
    "dur > 50 ms": "SELECT COUNT(*) FROM t.events WHERE _duration > 50ms",
    "lag window": """SELECT pid, tid, _ts, gap FROM (
        SELECT pid, tid, _ts, _ts - LAG(_ts) OVER (PARTITION BY pid, tid ORDER BY _ts) AS gap FROM t.events)
        ORDER BY gap DESC LIMIT 10""",
    "lag window, with names": """SELECT pid, tid, name, gap FROM (
        SELECT pid, tid, name, _ts - LAG(_ts) OVER (PARTITION BY pid, tid ORDER BY _ts) AS gap FROM t.events)
        ORDER BY gap DESC LIMIT 10""",
    "POSIX x step": OVERLAP.replace("{more}", ", sorted=>TRUE"),
    "POSIX x step, sorted again": OVERLAP.replace("{more}", ""),
}
PEER = {
    "rows of a rare name": ["--duql", 'where name == "{rare}"'],
    "rows by hash": ["--duql", 'where name == "open64" and fhash == "{hash}"'],
    "rows by path": ["--duql", 'where name == "open64" and fhash -> files.path == "{path}"'],
    "group by name": ["--duql", "group name {{ n = count(), s = sum(dur) }}"],
    "100 ms buckets": ["--group-by", "name", "--time-bucket", "100ms", "--agg", "count"],
    "dur > 50 ms": ["--duql", "where dur > 50000 | agg {{ n = count() }}"],
}


def example(folder: Path) -> dict[str, str]:
    """Return a path that the trace names, its hash, and the name that the fewest events have."""
    names: dict[str, tuple[int, int]] = told_of(folder)["names"]
    rare = min(names, key=lambda name: (names[name][0], name))
    with gzip.open(min(folder.glob("*.pfw.gz")), "rt", encoding="utf-8") as lines:
        records = (json.loads(line) for line in lines if '"FH"' in line)
        return next({"hash": r["args"]["value"], "path": r["args"]["name"], "rare": rare} for r in records)


def told_of(folder: Path) -> dict[str, Any]:
    """Return what the generator told of a trace."""
    found: dict[str, Any] = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    return found


def measure(folder: Path, rounds: int) -> None:
    """Measure one folder."""
    raw = told_of(folder)["bytes"]
    rare_rows = RARE.format(**example(folder))
    print(f"{folder}: {raw / 1e6:.0f} MB of text")
    with tempfile.TemporaryDirectory(prefix="dctv-bench-") as temporary:
        place = Path(temporary) / "whole"
        built = list(islice(builds(folder, place), rounds))
        index, store = size_of(place, "*.idx"), size_of(place, "*.parquet")
        part = f" ({100 * index / raw:.2f} % of text)"
        show("index and column store", built, f"index {index / 1e6:.2f} MB{part}, store {store / 1e6:.1f} MB")
        bare = Path(temporary) / "bare"
        show("index alone", islice(builds(folder, bare, "--no-store"), max(1, rounds // 2)))
        rare = dctv("query", f"t={folder}", rare_rows, "--index-dir")
        show("a rare name, new process", (run([*rare, str(place)]) for _ in range(rounds)))
        show("a rare name, new process, no store", (run([*rare, str(bare)]) for _ in range(rounds)))
        warm(folder, place, rounds)
        options = ("--format", "csv", "--index-dir", str(bare))
        analyzed = dctv("query", f"t={folder}", f"EXPLAIN ANALYZE {rare_rows}", *options)
        print("  " + "\n  ".join(line for line in run(analyzed).output.splitlines() if "index" in line))
        peer(folder, Path(temporary) / "peer", rounds)


def builds(folder: Path, place: Path, *options: str) -> Iterator[Run]:
    """Build an index again and again."""
    while True:
        shutil.rmtree(place, ignore_errors=True)
        yield run(dctv("index", str(folder), "--index-dir", str(place), *options))


def warm(folder: Path, place: Path, rounds: int) -> None:
    """Print what questions take in a running session, which is a process of its own."""
    found = run([sys.executable, __file__, "--session", str(folder), str(place), "--rounds", str(rounds)])
    for name, (cpu, wall, rows) in json.loads(found.output.splitlines()[-1]).items():
        print(f"  in a session: {name:<30} {cpu:8.4f} cpu s {wall:8.4f} s {'':10}  {rows} rows")
    print(f"  in a session: peak memory {found.peak:.0f} MiB")


def session(folder: Path, place: Path, rounds: int) -> None:
    """Mount a trace and ask every question, once to warm up and then for the figures, which are printed as JSON."""
    from dctv.session import Session

    figures: dict[str, tuple[float, float, int]] = {}
    values = example(folder)
    started = time.process_time(), time.perf_counter()
    with Session(index_dir=str(place)) as opened:
        opened.mount(str(folder), "t")
        figures["mount"] = (time.process_time() - started[0], time.perf_counter() - started[1], 0)
        for name, text in QUESTIONS.items():
            taken = []
            rows = 0
            for _ in range(rounds + 1):
                started = time.process_time(), time.perf_counter()
                rows = len(opened.sql(text.format(**values)).fetchall())
                taken.append((time.process_time() - started[0], time.perf_counter() - started[1]))
            cpu, wall = (median(column) for column in zip(*taken[1:], strict=True))
            figures[name] = (cpu, wall, rows)
    print(json.dumps(figures))


def peer(folder: Path, copy: Path, rounds: int) -> None:
    """Run dftracer-utils on a copy, since it writes beside the data."""
    programs = os.environ.get("DCTV_PEER_DFTRACER")
    if programs is None:
        print("  dftracer-utils: not run, DCTV_PEER_DFTRACER is not set")
        return
    copy.mkdir()
    for path in folder.glob("*.pfw.gz"):
        shutil.copy(path, copy)
    built = []
    for _ in range(rounds):
        shutil.rmtree(copy / ".dftindex", ignore_errors=True)
        built.append(run([f"{programs}/dftracer_index", "-d", str(copy)]))
    show("dftracer_index", built, f"index {size_of(copy, '.dftindex/**/*') / 1e6:.2f} MB")
    values = example(folder)
    for name, arguments in PEER.items():
        command = [f"{programs}/dftracer_view", "-d", str(copy), *(part.format(**values) for part in arguments)]
        show(f"dftracer_view: {name}", (run(command) for _ in range(rounds)))


def shapes(folder: Path, rounds: int) -> None:
    """Measure the same text as 1,000 files, and as one gzip member."""
    files = sorted(folder.glob("*.pfw.gz"))
    with tempfile.TemporaryDirectory(prefix="dctv-bench-") as temporary:
        single = Path(temporary) / "single"
        single.mkdir()
        with gzip.open(single / "one.pfw.gz", "wb", compresslevel=1) as whole:
            for path in files:
                with gzip.open(path, "rb") as text:
                    shutil.copyfileobj(text, whole, 1 << 20)
        shutil.copy(folder / "expected.json", single)
        measure(single, rounds)
        shutil.rmtree(single)
        many = Path(temporary) / "many"
        many.mkdir()
        for number, path in enumerate(files):
            with gzip.open(path, "rb") as text:
                lines = text.readlines()
            step = -(-len(lines) * len(files) // 1000)
            for start in range(0, len(lines), step):
                part = many / f"{number:02}-{start:08}.pfw.gz"
                part.write_bytes(gzip.compress(b"".join(lines[start : start + step]), 6, mtime=0))
        print(f"{sum(1 for _ in many.iterdir())} files:")
        shutil.copy(folder / "expected.json", many)
        measure(many, rounds)


def main() -> None:
    """Measure the folders that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--shapes", action="store_true")
    parser.add_argument("--session", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.session:
        session(*given.folders, given.rounds)
        return
    for folder in given.folders:
        measure(folder, given.rounds)
    if given.shapes:
        shapes(given.folders[-1], given.rounds)


if __name__ == "__main__":
    main()
