"""A number of calls becomes a uftrace data directory: threads with nested calls, a tenth of them with arguments.

Run as `python benchmarks/generate_uftrace.py DIRECTORY --calls 2500000 --threads 8`; the same arguments give the same
bytes. `expected.json` beside the directory holds how often each function was called.
"""

from __future__ import annotations

import argparse
import json
import random
import struct
from collections import Counter
from pathlib import Path

BASE = 0x5555_5555_0000
START_NS = 1_000_000_000_000
PID = 4000
FUNCTIONS = 200
"""Functions of the program, besides `main` and `step`."""
EXE = "/usr/bin/generated"
FEATURES = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 12
INFO_MASK = 0b11 | 1 << 3 | 1 << 7 | 1 << 10 | 1 << 12 | 1 << 13

Shape = list[tuple[int, int, int]]
"""Records of one call of `step` and all calls from it: ns since its entry, kind (0 entry, 1 exit), function."""


def generate(path: Path | str, events: int, *, threads: int = 8, arguments: float = 0.1, seed: int = 1) -> Counter[str]:
    """Write a data directory of about so many records (two per call); return how often each function was called."""
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(seed)
    shapes = [_shape(rng, arguments) for _ in range(64)]
    calls = max(events // 2, threads)
    counts: Counter[str] = Counter()
    for number in range(threads):
        share = calls // threads + (number < calls % threads)
        (folder / f"{PID + number}.dat").write_bytes(_thread(rng, shapes, share, counts, number))
    _small_files(folder, threads)
    return counts


def _address(function: int) -> int:
    return BASE + 0x1000 + function * 64


def _name(function: int) -> str:
    return "main" if function == 0 else "step" if function == 1 else f"work_{function:03}"


def _shape(rng: random.Random, arguments: float) -> Shape:
    """Draw a tree of calls, up to 12 deep."""
    out: Shape = []
    time = 0

    def call(function: int, depth: int) -> None:
        nonlocal time
        out.append((time, 0, function))
        time += rng.randint(20, 400)
        for _ in range(rng.choice((0, 0, 1, 2, 3)) if depth < 12 else 0):
            real = rng.randrange(2, 2 + FUNCTIONS)
            call(max(real - real % 10, 10) if rng.random() < arguments else real | 1, depth + 1)
            time += rng.randint(20, 100)
        out.append((time, 1, function))
        time += 30

    call(1, 1)
    return out


def _thread(rng: random.Random, shapes: list[Shape], calls: int, counts: Counter[str], number: int) -> bytes:
    """Write the records of a thread: `main`, and `step` in it until there are enough calls."""
    pieces = [(_piece(shape), shape) for shape in shapes]
    out = bytearray(_record(START_NS + number, 0, 0, 0))
    time = START_NS + number + 100
    counts["main"] += 1
    left = calls - 1
    while left > 0:
        (times, piece), shape = pieces[rng.randrange(len(pieces))]
        if len(shape) // 2 > left:
            times, piece = _piece(shape := [(0, 0, 1), (50, 1, 1)])
        for at, since in times:
            struct.pack_into("<Q", piece, at, time + since)
        out += piece
        counts.update(_name(function) for _, kind, function in shape if kind == 0)
        left -= len(shape) // 2
        time += shape[-1][0] + rng.randint(50, 2000)
    return bytes(out + _record(time, 1, 0, 0))


def _piece(shape: Shape) -> tuple[list[tuple[int, int]], bytearray]:
    """Return where times stand in the bytes of a shape, and the bytes."""
    times = []
    out = bytearray()
    depth = 1
    for since, kind, function in shape:
        depth -= kind
        times.append((len(out), since))
        more = function > 1 and function % 10 == 0
        out += _record(0, kind | (4 if more else 0), depth, function)
        if more:
            out += struct.pack("<q", function) if kind else struct.pack("<iI", -function, 7)
        depth += 1 - kind
    return times, out


def _record(time: int, kind: int, depth: int, function: int) -> bytes:
    return struct.pack("<QQ", time, kind | 5 << 3 | depth << 6 | _address(function) << 16)


def _small_files(folder: Path, threads: int) -> None:
    tids = [PID + number for number in range(threads)]
    with_arguments = [_name(function) for function in range(2, 2 + FUNCTIONS) if function % 10 == 0]
    lines = [
        f"exename:{EXE}",
        "build_id:0123456789012345678901234567890123456789",
        f"cmdline:uftrace record {EXE}",
        "taskinfo:lines=2",
        f"taskinfo:nr_tid={threads}",
        f"taskinfo:tids={','.join(map(str, tids))}",
        "argspec:lines=2",
        "argspec:" + ";".join(f"{name}@arg1/i32,arg2/u32" for name in with_arguments),
        "retspec:" + ";".join(f"{name}@retval" for name in with_arguments),
        "pattern_type:regex",
        "uftrace_version:v0.19 ( x86_64 )",
    ]
    header = struct.pack("<8sIHBBQQH6x", b"Ftrace!\0", 4, 40, 1, 2, FEATURES, INFO_MASK, 1024)
    (folder / "info").write_bytes(header + "".join(f"{line}\n" for line in lines).encode())
    tasks = [f'SESS timestamp=999.000000000 pid={PID} sid=0123456789abcdef exename="{EXE}"']
    tasks += [f"TASK timestamp=999.{tid:09} tid={tid} pid={PID}" for tid in tids]
    (folder / "task.txt").write_text("".join(f"{line}\n" for line in tasks))
    (folder / "sid-0123456789abcdef.map").write_text(f"{BASE:x}-{BASE + 0x10000:x} r-xp 00000000 00:00 0 {EXE}\n")
    symbols = [f"{_address(n) - BASE:016x} {64:08x} T {_name(n)}" for n in range(2 + FUNCTIONS)]
    head = [f"# symbols: {len(symbols)}", f"# path name: {EXE}"]
    (folder / "generated.sym").write_text("".join(f"{line}\n" for line in [*head, *symbols]))


def main() -> None:
    """Write a data directory as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--calls", type=int, default=2_500_000)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--arguments", type=float, default=0.1, help="share of calls with arguments")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    counts = generate(
        given.directory, 2 * given.calls, threads=given.threads, arguments=given.arguments, seed=given.seed
    )
    expected = given.directory.parent / f"{given.directory.name}.expected.json"
    expected.write_text(json.dumps(counts, indent=1, sort_keys=True))


if __name__ == "__main__":
    main()
