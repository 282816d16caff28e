"""Builds that are killed, find no room, or meet others: nothing looks finished that is not, and answers are right."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dctv.errors import IndexFailed
from dctv.index.build import WORKSPACE
from dctv.index.keeper import sweep
from dctv.index.location import INDEX
from dctv.session import Session
from tests.bounds import EXPLORE
from tests.index.faults import ANSWERED, PFW, Case, begin, build, files_of, mixed

KILLS = 200 if EXPLORE else 3


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case.of(mixed(tmp_path_factory.mktemp("pfw") / "run"), PFW)


def in_time(children: list[subprocess.Popen[str]]) -> list[tuple[int, str, str]]:
    found = []
    for child in children:
        out, err = child.communicate(timeout=120)
        found.append((child.returncode, out, err))
    return found


def wait_for_work(root: Path, child: subprocess.Popen[str]) -> None:
    while not list(root.glob(f"*/{WORKSPACE}*")) and child.poll() is None:
        time.sleep(0.001)


def built_and_whole(case: Case, root: Path) -> None:
    """After a build, the folder of an unused index holds only its own files."""
    build(case.trace, root, force=True)
    whole(root)


def whole(root: Path) -> None:
    """A folder of one index holds just what belongs to it."""
    (folder,) = root.iterdir()
    names = sorted(p.name for p in folder.iterdir())
    assert (names[:2], names[3:]) == (["building.lock", "lock"], [INDEX])
    assert names[2].startswith("store-")


@pytest.mark.ci
def test_killed_builds(case: Case, tmp_path: Path) -> None:
    root = tmp_path / "idx"
    draw = random.Random(None if EXPLORE else 3)
    child = begin("index", case.trace, "--index-dir", root)
    wait_for_work(root, child)
    began = time.monotonic()
    assert in_time([child])[0][0] == 0
    length = time.monotonic() - began
    leftovers = 0
    for number in range(KILLS):
        if number % 2:
            for path in root.rglob(INDEX):
                path.unlink()
        before = set(root.glob(f"*/{WORKSPACE}*"))
        child = begin("index", "--force", case.trace, "--index-dir", root)
        while set(root.glob(f"*/{WORKSPACE}*")) <= before and child.poll() is None:
            time.sleep(0.001)
        time.sleep(draw.random() * length)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        leftovers += bool(set(root.glob(f"*/{WORKSPACE}*")) - before)
        assert case.survey(root) == ([], [])
        if number % 10 == 9:
            built_and_whole(case, root)
    assert leftovers
    built_and_whole(case, root)
    assert case.survey(root) == ([], [])


def test_two_build_and_one_asks(case: Case, tmp_path: Path) -> None:
    words = ("index", case.trace, "--index-dir", tmp_path)
    children = [begin(*words), begin(*words)]
    asked = 0
    while any(child.poll() is None for child in children):
        assert case.survey(tmp_path) == ([], [])
        asked += 1
    outputs = in_time(children)
    assert [(code, err) for code, _, err in outputs] == [(0, ""), (0, "")]
    assert sorted("was there" in out for _, out, _ in outputs) == [False, True]
    assert asked
    whole(tmp_path)


@pytest.mark.ci
def test_one_asks_while_others_build_anew(case: Case, tmp_path: Path) -> None:
    build(case.trace, tmp_path)
    with Session(index_dir=tmp_path) as session:
        session.mount(str(case.trace), "t")
        for _ in range(10 if EXPLORE else 1):
            children = [begin("index", "--force", case.trace, "--index-dir", tmp_path) for _ in range(2)]
            while any(child.poll() is None for child in children):
                assert case.survey(tmp_path) == ([], [])
                assert case.judge([session.sql(sql).fetchall() for sql in case.queries]) == []
            assert [code for code, *_ in in_time(children)] == [0, 0]
    built_and_whole(case, tmp_path)


def nothing_looks_finished(root: Path) -> None:
    assert files_of(root) == []
    assert list(root.glob(f"*/{WORKSPACE}*")) == []


@contextmanager
def no_larger_files() -> Iterator[Callable[[int], None]]:
    """Hand out what limits the size of files, and end that."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.ci
def test_files_that_must_not_grow(case: Case, tmp_path: Path) -> None:
    with no_larger_files() as limit:
        for size in (*range(0, 120_000, 4_000 if EXPLORE else 40_000), 1, 100):
            limit(size)
            with pytest.raises(IndexFailed, match="cannot write the index in `"):
                build(case.trace, tmp_path)
            nothing_looks_finished(tmp_path)
        limit(40_000)
        with Session(index_dir=tmp_path) as session:
            session.mount(str(case.trace), "t")
            assert case.judge([session.sql(sql).fetchall() for sql in case.queries]) == []


FULL = """
mount -t tmpfs -o size=$1k tmpfs "$2" || exit 77
shift
"${@:2}"
code=$?
find "$1" -name '*.idx' -o -name '*.parquet' -o -name 'building-*' >&2
exit $code
"""


def on_a_disk(kilobytes: int, folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str] | None:
    """Run a program with a small disk at a folder, in a separate namespace; None where that is forbidden."""
    folder.mkdir(exist_ok=True)
    command = ["unshare", "-rm", "bash", "-c", FULL, "bash", str(kilobytes), str(folder), *map(str, words)]
    root = str(Path(__file__).resolve().parents[2])
    changes = {**os.environ, "PYTHONPATH": root}
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=root, env=changes, timeout=120, check=False)
    except FileNotFoundError:
        return None
    return None if done.returncode == 77 or done.stderr.startswith("unshare") else done


@pytest.mark.parametrize("kilobytes", range(4, 120, 8) if EXPLORE else [40])
def test_a_full_disk(case: Case, tmp_path: Path, kilobytes: int) -> None:
    """Where no disk can be made, the limit of the size of files above stands for it."""
    folder = tmp_path / "disk"
    index = (sys.executable, "-m", "tests.index.faults", "index", case.trace, "--index-dir", folder)
    ran = on_a_disk(kilobytes, folder, *index)
    if ran is not None:
        assert (ran.returncode, ran.stdout) == (2, "")
        assert ran.stderr.startswith("error: cannot write the index in ")
        assert ran.stderr.count("\n") == 1
    query = (sys.executable, "-m", "dctv", "query", "--index-dir", folder, ANSWERED, f"t={case.trace}")
    ran = on_a_disk(kilobytes, folder, *query)
    assert ran is None or (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("place", ["a file", "below a file", "a loop"])
def test_places_where_nothing_can_be_written(
    case: Case, tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a file").touch()
    (tmp_path / "a loop").symlink_to("a loop")
    folder = tmp_path / ("a file/x" if place == "below a file" else place)
    ran = in_time([begin("index", case.trace, "--index-dir", folder)])
    assert ran[0][:2] == (2, "")
    assert ran[0][2].startswith("error: cannot write the index in ")
    assert case.survey(folder)[0] == []
    ran = in_time([begin("index", case.trace, XDG_CACHE_HOME=str(folder), DCTV_INDEX_DIR="")])
    assert ran[0][:2] == (2, "")
    assert ran[0][2].startswith("error: cannot write the index in ")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    monkeypatch.delenv("DCTV_INDEX_DIR", raising=False)
    with Session(large=1000) as session:
        session.mount(str(case.trace), "t")
        warning = session.warnings()[-1]
        assert warning.startswith("cannot write the index in ")
        assert warning.endswith("; the trace is read whole")
        assert case.judge([session.sql(sql).fetchall() for sql in case.queries]) == []


def test_a_read_only_folder(case: Case, tmp_path: Path) -> None:
    """Folders that root may write in spite of their mode are right too."""
    root = tmp_path / "idx"
    build(case.trace, root)
    before = sorted(root.rglob("*"))
    folders = [root, *(p for p in before if p.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    try:
        assert case.survey(root) == ([], [])
        ran = in_time([begin("index", "--force", case.trace, "--index-dir", root)])[0]
        assert ran[0] in ((0,) if os.access(root, os.W_OK) else (2,))
        assert case.survey(root) == ([], [])
    finally:
        for folder in folders:
            if folder.exists():
                folder.chmod(0o755)
    shutil.rmtree(root)


def test_targets_of_links_are_not_deleted(tmp_path: Path) -> None:
    inside, outside = tmp_path / "index", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "kept").write_text("kept")
    (inside / f"{WORKSPACE}1-dead").mkdir()
    (inside / f"{WORKSPACE}1-link").symlink_to(outside, target_is_directory=True)
    sweep(inside)
    assert not (inside / f"{WORKSPACE}1-dead").exists()
    assert (outside / "kept").read_text() == "kept"
