"""Folders of rows that do not fit into memory: one for each session, and none of a killed process."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dctv.session import Session
from dctv.temporary import SpillFolder

KILLED = """
import sys
from dctv.session import Session

session = Session(temp_directory=sys.argv[1], index=False)
session.sql("SELECT 1 AS x").fetchall()
(session.spill_folder / "rows").write_text("1")
print("spilled", flush=True)
input()
"""


def names(folder: Path) -> list[str]:
    """The names of files and folders, and of what is within these."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_session_leaves_nothing(tmp_path: Path) -> None:
    with Session(temp_directory=tmp_path, index=False) as session, Session(temp_directory=tmp_path) as other:
        assert session.sql("SELECT 1 AS x").fetchall() == other.sql("SELECT 1 AS x").fetchall()
        assert [Path(name).suffix for name in names(tmp_path)] == ["", ".lock", "", ".lock"]
        assert session.spill_folder.stat().st_mode & 0o077 == 0
    assert names(tmp_path) == []


def test_what_a_killed_process_spilled_is_removed_by_the_next_session(tmp_path: Path) -> None:
    pipe = subprocess.PIPE
    words = [sys.executable, "-c", KILLED, str(tmp_path)]
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "spilled\n"
        spilled = names(tmp_path)
        with Session(temp_directory=tmp_path, index=False) as session:
            session.sql("SELECT 1 AS x").fetchall()
        # It lives.
        assert names(tmp_path) == spilled
        assert len(spilled) == 3
        program.send_signal(signal.SIGKILL)
    assert names(tmp_path)
    with Session(temp_directory=tmp_path, index=False) as session:
        session.sql("SELECT 1 AS x").fetchall()
    assert names(tmp_path) == []


def test_folders_of_other_machines_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "spill-elsewhere-1-0").mkdir()
    (tmp_path / "spill-elsewhere-1-0.lock").touch()
    (tmp_path / "notes.lock").touch()
    before = names(tmp_path)
    SpillFolder(tmp_path).close()
    assert names(tmp_path) == before


def test_a_folder_that_is_there_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dctv.temporary._numbers", iter([0, 1, 2]))
    foreign = tmp_path / f"spill-{os.uname().nodename}-{os.getpid()}-0"
    foreign.symlink_to(tmp_path)
    folder = SpillFolder(tmp_path)
    assert folder.path.name.endswith("-1")
    folder.close()
    assert names(tmp_path) == [foreign.name]


def test_without_locks_nothing_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = tmp_path / f"spill-{os.uname().nodename}-1-0"
    left.mkdir()
    left.with_name(f"{left.name}.lock").touch()

    def fail(_file: int, _operation: int) -> None:
        raise OSError(95, "Operation not supported")

    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "flock", fail)
        folder = SpillFolder(tmp_path)
        assert names(tmp_path) == sorted([left.name, f"{left.name}.lock", folder.path.name])
        folder.close()
    SpillFolder(tmp_path).close()
    assert names(tmp_path) == []


def test_a_folder_that_cannot_be_written_needs_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr("dctv.temporary.os.open", fail)
        folder = SpillFolder(tmp_path)
    assert folder.path.parent == tmp_path
    folder.close()


def test_a_folder_is_not_abandoned_before_it_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others = iter([tmp_path])

    def lock(file: int, operation: int) -> None:
        for other in others:
            SpillFolder(other).close()
        flock(file, operation)

    flock = fcntl.flock
    monkeypatch.setattr(fcntl, "flock", lock)
    folder = SpillFolder(tmp_path)
    assert folder.path.is_dir()
    folder.close()
    assert names(tmp_path) == []
