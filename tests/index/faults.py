"""Real traces indexed in small chunks, and questions to which every answer must be right or a clear error.

`python -m tests.index.faults WORDS...` is `dctv WORDS...` with small chunks.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dctv.cli.measure import indexed, measured
from dctv.errors import DctvError, IndexUnusable
from dctv.index.build import IndexSettings
from dctv.index.request import IndexOutcome, IndexRequest
from dctv.index.summary import Summary
from dctv.session import Session
from tests.bounds import EXPLORE
from tests.session.test_indexed import write_trace

ROOT = Path(__file__).resolve().parents[2]
CHUNK = 4096
"""Bytes of text of a chunk."""

COMMON = (
    "SELECT * FROM t.events",
    "SELECT _ts, _duration, name, category, pid, tid FROM t.events WHERE _ts > 3ms",
    "SELECT name, COUNT(*) AS n, SUM(_duration) AS d FROM t.events GROUP BY name ORDER BY n, name",
    "SELECT COUNT(*), MIN(_ts), MAX(_ts) FROM t.events",
)
PFW = (
    *COMMON,
    "SELECT * FROM t.files",
    "SELECT * FROM t.raw_events.only_1",
    "SELECT _ts, name, args FROM t.events WHERE name LIKE 'only%' AND pid IN (1, 2)",
    "SELECT _ts, size FROM t.raw_events.read WHERE fhash = '0000000000000004' AND _ts > 2ms",
    "SELECT _ts, size FROM t.raw_events.read WHERE fname = '/data/2/3.npz' AND dur < 9us",
    "SELECT * FROM t.metadata",
)
FTRACE = (
    *COMMON,
    "SELECT * FROM t.raw_events.sched_switch",
    "SELECT _ts, name, args FROM t.events WHERE name LIKE 'softirq%'",
    "SELECT _ts, next_comm FROM t.raw_events.sched_switch WHERE cpu = 0 AND next_pid > 100",
)
ANSWERED = "SELECT COUNT(*), MIN(_ts), MAX(_ts) FROM t.events"


def mixed(folder: Path, events: int = 2400 if EXPLORE else 300) -> Path:
    """Write a trace whose files have several chunks: plain text, many gzip members, and one member."""
    write_trace(folder, 3, events)
    plain, many, _ = sorted(folder.iterdir())
    lines = gzip.decompress(plain.read_bytes()).splitlines(keepends=True)
    plain.unlink()
    plain.with_suffix("").write_bytes(b"".join(lines[: events // 4]))
    lines = gzip.decompress(many.read_bytes()).splitlines(keepends=True)[: events // 4]
    many.write_bytes(b"".join(gzip.compress(b"".join(lines[i : i + 99])) for i in range(0, len(lines), 99)))
    return folder


def ftrace(folder: Path) -> Path:
    folder.mkdir()
    return Path(shutil.copy(ROOT / "tests/data/ftrace/live_marks_tgid.trace.txt", folder))


@contextmanager
def small_chunks() -> Iterator[None]:
    """Let passes make many chunks of few events."""
    before = IndexSettings.__init__.__defaults__
    assert before is not None
    IndexSettings.__init__.__defaults__ = (*before[:-1], CHUNK)
    try:
        yield
    finally:
        IndexSettings.__init__.__defaults__ = before


def build(trace: Path, index_dir: Path, *, store: bool = True, force: bool = False) -> IndexOutcome:
    with small_chunks(), Session(index_dir=index_dir) as session:
        return session.index(str(trace), IndexRequest(IndexSettings(store=store), force=force))


@dataclass(frozen=True)
class Wrong:
    """A question that ended in an error."""

    error: DctvError


Answer = Any


def ask(session: Session, sql: str) -> Answer:
    """Run queries; only errors about damaged files count as answers."""
    try:
        return session.sql(sql).fetchall()
    except DctvError as error:
        message = error.message
        assert "`" in message, message
        assert any(w in message for w in ("damaged", "changed", "cannot be read", "cannot read")), message
        assert "\n" not in message
        return Wrong(error)


def same_in_all(summary: Summary) -> tuple[object, ...]:
    """What a summary says, but for what an index does not know exactly."""
    names = [(n.name, n.category, n.events, n.durations.count, n.durations.total) for n in summary.names]
    whole = summary.durations
    times = (summary.events, summary.first, summary.last, summary.end)
    return (*times, summary.categories, names, whole.count, whole.total, whole.least, whole.most)


@dataclass(frozen=True)
class Case:
    """A trace, and what a session without an index says of it."""

    trace: Path
    queries: Sequence[str]
    expected: Sequence[Answer]
    summary: tuple[object, ...]

    @classmethod
    def of(cls, trace: Path, queries: Sequence[str]) -> Case:
        with Session(index=False) as session:
            session.mount(str(trace), "t")
            found = [session.sql(sql).fetchall() for sql in queries]
            assert sum(map(bool, found)) > 5
            session.mount(str(trace), "trace")
            return cls(trace, queries, found, same_in_all(measured(session)))

    def judge(self, found: Sequence[Answer]) -> list[DctvError]:
        """Return the errors among the answers; all others are right."""
        for sql, answer, expected in zip(self.queries, found, self.expected, strict=True):
            assert isinstance(answer, Wrong) or answer == expected, sql
        return [answer.error for answer in found if isinstance(answer, Wrong)]

    def survey(self, index_dir: Path) -> tuple[list[DctvError], list[str]]:
        """Mount by an index in any condition, and run all queries; return errors and warnings."""
        with Session(index_dir=index_dir) as session:
            session.mount(str(self.trace), "t")
            warnings = session.warnings()
            wrong = self.judge([ask(session, sql) for sql in self.queries])
        try:
            known = indexed([str(self.trace)], index_dir, warnings.append)
        except IndexUnusable as error:
            wrong.append(error)
        else:
            assert known is None or same_in_all(known.summary) == self.summary
        return wrong, warnings


def files_of(folder: Path) -> list[Path]:
    """The files of indexes and stores, but for locks."""
    return sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix in {".idx", ".parquet"})


def changed(path: Path, change: Callable[[bytearray], None]) -> None:
    """Change the bytes of a file where it stands, and hide that as well as a program can."""
    before = path.stat()
    raw = bytearray(path.read_bytes())
    size = len(raw)
    change(raw)
    with path.open("r+b") as file:
        file.write(raw)
        if len(raw) != size:
            file.truncate(len(raw))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def listing(folder: Path) -> Counter[str]:
    """All below a folder, with what would change if it were written."""
    found = Counter[str]()
    for path in sorted(folder.rglob("*")):
        status = path.stat()
        found[f"{path} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"] += 1
    return found


def environment(**changes: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", **changes}


def begin(*words: str | Path, **changes: str) -> subprocess.Popen[str]:
    """Start `dctv` with small chunks."""
    command = [sys.executable, "-m", "tests.index.faults", *map(str, words)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, env=environment(**changes), text=True, stdout=pipe, stderr=pipe)


def main() -> None:
    from dctv.cli import process

    with small_chunks():
        process()


if __name__ == "__main__":
    main()
