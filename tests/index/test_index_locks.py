"""Several processes at one index: one builds, others wait; whoever is killed leaves nothing that looks finished."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dctv.errors import IndexFailed
from dctv.index import cache, locks
from dctv.index.cache import CacheLimit, entries, keep_small, most_bytes, prune
from dctv.index.finding import find
from dctv.index.keeper import IndexPlan, ensure, sweep
from dctv.index.location import INDEX, index_folder
from dctv.index.trace import Trace
from tests.bounds import EXPLORE
from tests.index.notes import plan_of, trace_of, write_notes

ROOT = Path(__file__).resolve().parents[2]
KILLS = 200 if EXPLORE else 20


def builder(folder: Path, *paths: Path, pause: float = 0) -> subprocess.Popen[str]:
    environment = {**os.environ, "NOTES_PAUSE": str(pause), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.index.notes", str(folder), *map(str, paths)]
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_of_two_processes_one_builds(tmp_path: Path) -> None:
    path = write_notes(tmp_path / "a.notes", 1000)
    children = [builder(tmp_path / "idx", path, pause=0.05) for _ in range(2)]
    outputs = [child.communicate(timeout=60) for child in children]
    assert sorted(outputs) == [("built 1000\n", ""), ("found 1000\n", "")]


def test_a_lock_without_waiting_is_an_error(tmp_path: Path) -> None:
    trace = trace_of(write_notes(tmp_path / "a.notes", 100))
    folder = index_folder(trace.subject, tmp_path / "idx")
    folder.mkdir(parents=True)
    hold = locks.build(folder, None)
    assert hold is not None
    with hold, pytest.raises(IndexFailed, match="another process builds the index in"):
        ensure(trace, plan_of(trace, tmp_path / "idx"))
    _, made = ensure(trace, plan_of(trace, tmp_path / "idx"))
    assert made is not None


def wait_for_building(folder: Path, child: subprocess.Popen[str]) -> None:
    while not list(folder.glob("building-*")):
        assert child.poll() is None
        time.sleep(0.002)


@pytest.mark.ci
def test_a_killed_builder_leaves_nothing_that_looks_finished(tmp_path: Path) -> None:
    path = write_notes(tmp_path / "a.notes", 600)
    trace = trace_of(path)
    folder = index_folder(trace.subject, tmp_path / "idx")
    draw = random.Random(None if EXPLORE else 1)
    finished = 0
    for _ in range(KILLS):
        child = builder(tmp_path / "idx", path, pause=0.01)
        wait_for_building(folder, child)
        time.sleep(draw.random() * 0.15)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        notes: list[str] = []
        index = find(trace.subject, tmp_path / "idx", notes.append)
        assert notes == []
        if index is not None:
            finished += 1
            assert sum(index.events) == 600
            store = index.store
            assert store is not None
            for table in store.values():
                index.verify(table, read=True)
            index.close()
            (folder / INDEX).unlink()
    assert finished < KILLS
    index, made = ensure(trace, plan_of(trace, tmp_path / "idx"))
    assert made is not None
    assert sorted(p.name for p in folder.iterdir()) == [
        "building.lock",
        "lock",
        f"store-{index.generation}",
        INDEX,
    ]


def failing(trace: Trace, folder: Path) -> str:
    with pytest.raises(IndexFailed) as caught:
        ensure(trace, plan_of(trace, folder))
    return caught.value.message


def test_a_full_disk_is_reported(tmp_path: Path) -> None:
    """A limit of the size of files stands for it."""
    trace = trace_of(write_notes(tmp_path / "a.notes", 5000))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        for limit in (1 << 12, 1 << 15, 1 << 17):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
            assert failing(trace, tmp_path / "idx").startswith("cannot write the index in")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    folder = index_folder(trace.subject, tmp_path / "idx")
    assert sorted(p.name for p in folder.iterdir()) == ["building.lock", "lock"]


def test_an_unwritable_folder_is_reported(tmp_path: Path) -> None:
    trace = trace_of(write_notes(tmp_path / "a.notes", 100))
    (tmp_path / "idx").write_text("a file", encoding="utf-8")
    assert "not a directory" in failing(trace, tmp_path / "idx")


def test_files_in_use_are_not_deleted(tmp_path: Path) -> None:
    trace = trace_of(write_notes(tmp_path / "a.notes", 300))
    old, _ = ensure(trace, plan_of(trace, tmp_path / "idx"))
    plan = plan_of(trace, tmp_path / "idx")
    new, made = ensure(trace, IndexPlan(plan.wanted, plan.make_sorter, plan.index_dir, force=True))
    assert made is not None
    store = old.store
    assert store is not None
    for table in store.values():
        old.verify(table, read=True)
    assert old.events == new.events
    old.close()
    new.close()
    sweep(old.folder)
    assert [p.name for p in old.folder.glob("store-*")] == [f"store-{new.generation}"]


def test_the_cache_is_listed_and_bounded(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    traces = [trace_of(write_notes(tmp_path / f"{n}.notes", 200)) for n in range(4)]
    for number, trace in enumerate(traces):
        index, _ = ensure(trace, plan_of(trace, root))
        index.close()
        os.utime(index.folder / "lock", (1000 + number, 1000 + number))
    traces[2].paths[0].unlink()
    found = entries(root)
    assert [entry.paths[0].name for entry in found] == ["3.notes", "2.notes", "1.notes", "0.notes"]
    assert [entry.problem is None for entry in found] == [True, False, True, True]
    used = find(traces[0].subject, root, lambda _: None)
    assert used is not None
    os.utime(used.folder / "lock", (1000, 1000))
    size = found[0].bytes
    assert size > 10_000
    removed = prune(root, CacheLimit(most_bytes=2 * size + size // 2))
    assert [entry.folder for entry in removed] == [found[2].folder, found[1].folder]
    assert [entry.paths[0].name for entry in entries(root)] == ["3.notes", "0.notes"]
    assert prune(root, CacheLimit(oldest=1e12)) == []
    assert len(prune(root, CacheLimit(oldest=60))) == 1
    used.close()
    assert len(prune(root, CacheLimit(nothing=True))) == 1
    assert list(root.iterdir()) == []
    assert 0 < most_bytes(tmp_path) <= 20 << 30


def test_builds_prune_the_cache_once_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To look at every index after each of many builds would take longer than these."""
    root = tmp_path / "cache"

    def build(name: str) -> None:
        index, _ = ensure(trace := trace_of(write_notes(tmp_path / name, 200)), plan_of(trace, root))
        index.close()
        os.utime(index.folder / "lock", (1000, 1000))

    monkeypatch.setattr(cache, "most_bytes", lambda _: 0)
    build("a.notes")
    keep_small(root)
    assert entries(root) == []
    build("b.notes")
    keep_small(root)
    assert len(entries(root)) == 1
    for moment in (time.time() - 61, time.time() + 3600):  # A clock that went back does not stop it for long.
        build("c.notes")
        os.utime(root / "pruned", (moment, moment))
        keep_small(root)
        assert entries(root) == []
    assert [one.name for one in root.iterdir()] == ["pruned"]
