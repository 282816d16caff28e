"""Print the cost of each format from the original file to the finished index and column store, and of mounting it then.

Run as `python benchmarks/ingest.py [FORMAT...] [--events 1000000] [--rounds 3] [--data FOLDER]`. Traces are made by the
generators beside this file, once. With `DCTV_PEER_TRACE_PROCESSOR` set to a trace_processor_shell it loads the same
files in the same rounds, where it reads them. Figures are medians of new processes, in CPU seconds of all threads.

The bars are CPU seconds of one machine at one time. With `DCTV_PEER_DFTRACER` set to the folder of dftracer-utils'
programs (0.0.14), `dftracer_index` runs in the same rounds, and tells how fast this machine is beside that one.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from processes import Run, dctv, run

DATA = Path(__file__).parent / "data" / "ingest"


@dataclass(frozen=True, slots=True)
class Format:
    """A format, how a trace of it is made, and what is asked of it."""

    name: str
    file: str
    module: str
    options: dict[str, object]
    bar: tuple[float, str] | None = None
    """Per CPU second: a number and `MB`, `events` or `records`."""
    peer: bool = False
    records: int = 1
    """Records of the format for each event."""


FORMATS = (
    Format("ftrace-text", "trace.txt", "generate_ftrace", {}, (100e6, "MB"), peer=True),
    Format("chrome-json", "trace.json", "generate_chrome", {}, (120e6, "MB"), peer=True),
    Format("perfetto", "trace.pftrace", "generate_perfetto", {}, (1.2e6, "events"), peer=True),
    Format("perfetto-compact", "compact.pftrace", "generate_perfetto", {"compact": True}, (1.2e6, "events"), peer=True),
    Format("uftrace", "uftrace.data", "generate_uftrace", {}, (5e6, "records"), records=2),
    Format("ctf", "ctf", "generate_ctf", {}, (1e6, "events")),
    Format("trace-dat", "trace.dat", "generate_trace_dat", {}, (1.5e6, "events")),
    Format("perf-data", "perf.data", "generate_perf", {}),
)

PEER_CPU = 2.41
"""CPU seconds of `dftracer_index` for 1M events of `generate_pfw` where the bars were set.

It was 2.97 there for another trace, which takes it 1.23 times as long.
"""


def made(one: Format, folder: Path, events: int) -> Path:
    """Return the trace of a format, made if it is not there."""
    path = folder / f"{events}" / one.file
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        generate(one.module, path, events, one.options)
    return path


def generate(module: str, path: Path, events: int, options: dict[str, object]) -> None:
    """Make a trace in a process of its own: the next ones would count the most memory that this one had as theirs."""
    made_by: Callable[..., object] = importlib.import_module(module).generate
    with ProcessPoolExecutor(1) as pool:
        pool.submit(made_by, path, events, **options).result()


def bytes_of(path: Path) -> int:
    """Return the bytes of a file, or of all files of a folder."""
    return path.stat().st_size if path.is_file() else sum(f.stat().st_size for f in path.rglob("*") if f.is_file())


def indexed_by_peer(programs: str, data: Path) -> Run:
    """Let dftracer-utils index the trace that tells how fast a machine is."""
    folder = data / "speed"
    if not folder.exists():
        generate("generate_pfw", folder, 1_000_000, {"zipped": True})
    shutil.rmtree(folder / ".dftindex", ignore_errors=True)
    return run([f"{programs}/dftracer_index", "-d", str(folder)])


def measure(one: Format, path: Path, rounds: int, data: Path) -> None:
    """Print the figures of one format."""
    size = bytes_of(path)
    peer = os.environ.get("DCTV_PEER_TRACE_PROCESSOR")
    built: list[Run] = []
    mounted: list[Run] = []
    theirs: list[Run] = []
    programs = os.environ.get("DCTV_PEER_DFTRACER")
    speeds: list[float] = []
    with tempfile.TemporaryDirectory(prefix="dctv-bench-") as place:
        for _ in range(rounds):
            if programs and one.bar:
                speeds.append(PEER_CPU / indexed_by_peer(programs, data).cpu)
            built.append(run(dctv("index", str(path), "--index-dir", place, "--force")))
            question = "SELECT COUNT(*) FROM t.events"
            mounted.append(run(dctv("query", question, f"t={path}", "--index-dir", place)))
            if peer and one.peer:
                theirs.append(run([peer, "query", str(path), "SELECT 1"]))
    found = re.search(r"([\d,]+) events", built[0].output)
    events = int(found[1].replace(",", "")) if found else 0
    cpu = median(r.cpu for r in built)
    units = {"MB": size, "events": events, "records": events * one.records}
    wanted = ""
    if one.bar:
        ratio = units[one.bar[1]] / cpu / one.bar[0]
        wanted = f"{ratio:5.2f} of the bar"
        if speeds:
            speed = median(speeds)
            wanted += f" ({ratio / speed:.2f} at its speed: this machine has {speed:.2f} of that)"
    print(
        f"{one.name:<17} {size / 1e6:7.1f} MB {events / 1e6:6.2f} M events  {cpu:7.2f} cpu s "
        f"{median(r.wall for r in built):7.2f} s {max(r.peak for r in built):5.0f} MiB  "
        f"{size / 1e6 / cpu:7.1f} MB/cpu s {events * one.records / 1e6 / cpu:6.2f} M/cpu s  {wanted:<17}  "
        f"mount and count {median(r.cpu for r in mounted):5.2f} cpu s {max(r.peak for r in mounted):4.0f} MiB",
        flush=True,
    )
    if theirs:
        own = median(r.cpu for r in theirs)
        print(
            f"{'':17} trace_processor {own:.2f} cpu s {max(r.peak for r in theirs):.0f} MiB: {own / cpu:.2f} times ours"
        )


def main() -> None:
    """Measure what the command line names, else all formats."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("formats", nargs="*", metavar="FORMAT")
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", type=Path, default=DATA)
    arguments = parser.parse_args()
    names = [one.name for one in FORMATS]
    unknown = set(arguments.formats) - set(names)
    if unknown:
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    for one in FORMATS:
        if not arguments.formats or one.name in arguments.formats:
            measure(one, made(one, arguments.data, arguments.events), arguments.rounds, arguments.data)


if __name__ == "__main__":
    main()
