"""A seed becomes a DFTracer trace of a training job: several processes, nested spans per thread, one file per process.

Run as `python benchmarks/generate_pfw.py DIRECTORY --events 2000000 [--gzip]`; the same arguments give the same bytes.
`expected.json` beside the files holds the number of events and the sum of durations of each event name.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

START_US = 1_760_000_000_000_000
SMALL_CALLS = (
    ("stat", "POSIX", 3, '"ret":0'),
    ("fstat", "POSIX", 3, '"ret":0'),
    ("access", "POSIX", 3, '"ret":-1'),
    ("lseek64", "POSIX", 3, '"offset":4096,"whence":0,"ret":4096'),
    ("fcntl", "POSIX", 3, '"cmd":3,"ret":32768'),
)
STAGES = (
    ("decode_image", "DATA", "dataset", "imagenet"),
    ("augment", "DATA", "policy", "flip+crop"),
    ("collate", "DATA", "layout", "nchw"),
    ("to_device", "DEVICE", "device", "gpu0"),
    ("forward", "COMPUTE", "model", "unet3d"),
    ("backward", "COMPUTE", "model", "unet3d"),
    ("allreduce", "COMM", "algorithm", "ring"),
    ("optimizer", "COMPUTE", "model", "unet3d"),
)


def digest(text: str) -> str:
    """Return 16 hex digits that stand for a text."""
    return blake2b(text.encode(), digest_size=8).hexdigest()


@dataclass(slots=True)
class Process:
    """One process that writes its records in completion order."""

    rank: int
    rng: random.Random
    lines: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    durations: Counter[str] = field(default_factory=Counter)
    known: set[str] = field(default_factory=set)
    serial: int = 0

    @property
    def pid(self) -> int:
        """The process id."""
        return 41_000 + 64 * self.rank

    @property
    def host(self) -> str:
        """The hash of the host's name."""
        return digest(f"node{self.rank // 2:03}")

    def meta(self, kind: str, name: str, value: str) -> None:
        """Write a metadata record."""
        args = f'{{"hhash":"{self.host}","name":"{name}","value":"{value}"}}'
        head = f'{{"name":"{kind}","cat":"dftracer","type":1,"pid":{self.pid},"tid":{self.pid},"ph":4'
        self.lines.append(f'{head},"args":{args}}}\n')

    def event(self, what: tuple[str, str, int], tid: int, span: tuple[int, int], args: str) -> None:
        """Write an event that lasts from span[0] to span[1]."""
        name, category, layer = what
        start, end = span
        self.serial += 1
        self.counts[name] += 1
        self.durations[name] += end - start
        head = f'{{"id":{self.serial},"name":"{name}","cat":"{category}","type":{layer},"pid":{self.pid},"tid":{tid}'
        times = f'"ts":{start},"dur":{end - start},"ph":1'
        self.lines.append(f'{head},{times},"args":{{"hhash":"{self.host}",{args}}}}}\n')

    def file(self, path: str) -> str:
        """Return the hash of a path, told in a metadata record at first use."""
        value = digest(path)
        if value not in self.known:
            self.known.add(value)
            self.meta("FH", path, value)
        return value

    def read_sample(self, tid: int, now: int) -> int:
        """Open, read and close a file; return the time after it."""
        rng = self.rng
        start = now
        path = self.file(f"/scratch/dataset/shard_{rng.randrange(64):03}/sample_{rng.randrange(250):05}.npz")
        call = ("open64", "POSIX", 3)
        end = now + rng.randint(15, 300)
        self.event(call, tid, (now, end), f'"flags":524288,"mode":438,"fhash":"{path}","ret":{rng.randint(3, 80)}')
        now = end + rng.randint(1, 9)
        name, category, layer, args = rng.choice(SMALL_CALLS)
        self.event((name, category, layer), tid, (now, now + 2), f'{args},"fhash":"{path}"')
        now += 3
        offset = 0
        for _ in range(rng.randint(3, 9)):
            size = 1 << rng.randint(12, 20)
            kind = "pread" if rng.random() < 0.3 else "read"
            end = now + size // 3000 + rng.randint(1, 50)
            place = f'"offset":{offset},' if kind == "pread" else ""
            args = f'"fhash":"{path}",{place}"count":{size},"ret":{size}'
            self.event((kind, "POSIX", 3), tid, (now, end), args)
            offset += size
            now = end + rng.randint(1, 12)
        end = now + rng.randint(1, 25)
        self.event(("close", "POSIX", 3), tid, (now, end), f'"fhash":"{path}","ret":0')
        self.event(("load_sample", "DATA", 6), tid, (start, end + 1), f'"bytes":{offset},"rate":{offset / 1024:.3f}')
        return end + 2

    def step(self, tid: int, number: int, now: int) -> int:
        """Write one training step with all that it encloses; return the time after it."""
        start = now
        now = self.read_sample(tid, now + 1)
        for name, category, key, value in STAGES:
            end = now + self.rng.randint(80, 2500)
            args = f'"epoch":{number // 400},"step":{number},"{key}":"{value}"'
            self.event((name, category, 6), tid, (now, end), args)
            now = end + self.rng.randint(1, 6)
        if number % 200 == 199:
            path = self.file(f"/scratch/checkpoints/rank{self.rank:03}/step_{number:07}.pt")
            end = now + self.rng.randint(2000, 90_000)
            self.event(("write", "POSIX", 3), tid, (now, end), f'"fhash":"{path}","count":8388608,"ret":8388608')
            now = end + 1
            self.event(("checkpoint", "IO", 6), tid, (start, now), f'"epoch":{number // 400},"final":false')
        self.event(("train_step", "LOOP", 6), tid, (start, now), f'"epoch":{number // 400},"step":{number}')
        return now + self.rng.randint(1, 30)

    def run(self, events: int, threads: int) -> Iterator[str]:
        """Yield pieces of the file until it has at least this many events."""
        self.meta("HH", f"node{self.rank // 2:03}", self.host)
        self.meta("CM", "time_metric", "US")
        self.meta("SH", "python;train.py", digest("python;train.py"))
        clocks = [START_US + 977 * self.rank + 131 * thread for thread in range(threads)]
        steps = [0] * threads
        self.event(
            ("start", "dftracer", 1), self.pid, (clocks[0], clocks[0]), f'"cmd_hash":"{digest("python;train.py")}"'
        )
        while self.serial < events - 1:
            thread = min(range(threads), key=clocks.__getitem__)
            clocks[thread] = self.step(self.pid + 1 + thread, steps[thread], clocks[thread])
            steps[thread] += 1
            if len(self.lines) > 20_000:
                yield "".join(self.lines)
                self.lines.clear()
        now = max(clocks)
        self.event(("end", "dftracer", 1), self.pid, (now, now), f'"num_events":{self.serial}')
        yield "".join(self.lines)
        self.lines.clear()


def generate(directory: Path, events: int, *, processes: int = 4, threads: int = 3, zipped: bool = False) -> None:
    """Write the files of a trace, and what they hold, to a directory.

    Args:
        directory: Is made where it is missing.
        events: At least how many events all files have together.
        processes: How many files.
        threads: Threads of each process.
        zipped: Write `.pfw.gz`, one gzip member per piece, instead of `.pfw`.
    """
    directory.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    durations: Counter[str] = Counter()
    size = 0
    for rank in range(processes):
        process = Process(rank, random.Random(rank))
        path = directory / f"trace-{digest(str(rank))}-app.pfw{'.gz' if zipped else ''}"
        with path.open("wb") as out:
            for piece in process.run(events // processes, threads):
                data = piece.encode()
                size += len(data)
                out.write(gzip.compress(data, 6, mtime=0) if zipped else data)
        counts += process.counts
        durations.update(process.durations)
    names = {name: [counts[name], durations[name]] for name in sorted(counts)}
    expected = {"events": counts.total(), "bytes": size, "names": names}
    (directory / "expected.json").write_text(json.dumps(expected, indent=1), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--events", type=int, default=2_000_000)
    parser.add_argument("--gzip", action="store_true")
    given = parser.parse_args()
    generate(given.directory, given.events, zipped=given.gzip)
