"""Damage to index and store, and traces that change: every answer is that of a scan without index, or a clear error."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from dctv.errors import IndexFailed, IndexUnusable, QueryError, TraceError
from dctv.index.location import INDEX
from dctv.index.schema import FORMAT_VERSION
from dctv.index.seal import seal, unsealed_copy
from dctv.session import Session
from tests.bounds import EXPLORE
from tests.command_line import run
from tests.index.faults import (
    ANSWERED,
    FTRACE,
    PFW,
    Case,
    ask,
    build,
    changed,
    files_of,
    ftrace,
    listing,
    mixed,
)

FLIPS = 260 if EXPLORE else 3
"""Of each kind of trace, and each way."""


@pytest.fixture(scope="module")
def pfw(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case.of(mixed(tmp_path_factory.mktemp("pfw") / "run", 200), PFW)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case.of(ftrace(tmp_path_factory.mktemp("ftrace") / "run"), FTRACE)


@pytest.fixture(scope="module")
def case(request: pytest.FixtureRequest) -> Case:
    found: Case = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="module")
def good(case: Case, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good")
    assert build(case.trace, folder).chunks > 1
    assert case.survey(folder) == ([], [])
    return folder


both = pytest.mark.parametrize("case", ["pfw", "text"], indirect=True)
one = pytest.mark.parametrize("case", ["pfw"], indirect=True)


def flip(draw: random.Random) -> Callable[[bytearray], None]:
    def change(raw: bytearray) -> None:
        raw[draw.randrange(len(raw))] ^= 1 << draw.randrange(8)

    return change


def in_place(case: Case, good: Path, folder: Path) -> Iterator[Path]:
    """Folders of an index with unmodified files."""
    assert good.is_dir()
    for number in count():
        build(case.trace, folder / str(number))
        paths = files_of(folder / str(number))
        for _ in paths:
            yield folder / str(number)
        shutil.rmtree(folder / str(number))


def copied(case: Case, good: Path, folder: Path) -> Iterator[Path]:
    """Copies of a good folder, made as a backup makes them."""
    assert case.trace.exists()
    for number in count():
        yield Path(shutil.copytree(good, folder / str(number)))
        shutil.rmtree(folder / str(number))


@both
@pytest.mark.parametrize("where", [in_place, copied])
def test_no_flipped_bit_changes_an_answer(
    case: Case, good: Path, tmp_path: Path, where: Callable[[Case, Path, Path], Iterator[Path]]
) -> None:
    draw = random.Random(None if EXPLORE else 5)
    noticed = Counter[str]()
    folders = where(case, good, tmp_path)
    for number, folder in zip(range(FLIPS), folders, strict=False):
        paths = files_of(folder)
        path = paths[number % len(paths)] if number % 3 else next(p for p in paths if p.name == INDEX)
        whole = path.read_bytes()
        changed(path, flip(draw))
        errors, warnings = case.survey(folder)
        if path.name == INDEX:
            assert errors == []
            assert "is damaged" in warnings[0]
        assert all("is damaged" in error.message for error in errors)
        noticed[path.suffix] += bool(errors or warnings)
        path.write_bytes(whole)
    assert noticed[".idx"] >= FLIPS // 3


def truncated(path: Path) -> None:
    changed(path, lambda raw: raw.__delitem__(slice(len(raw) * 2 // 3, None)))


def emptied(path: Path) -> None:
    changed(path, bytearray.clear)


def longer(path: Path) -> None:
    changed(path, lambda raw: raw.extend(bytes(100)))


def deleted(path: Path) -> None:
    path.unlink()


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


DAMAGE = [truncated, emptied, longer, deleted, a_folder, a_loop] if EXPLORE else [truncated, deleted, a_folder]


@both
@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_files_are_noticed(case: Case, good: Path, tmp_path: Path, damage: Callable[[Path], None]) -> None:
    paths = files_of(good)
    chosen = range(len(paths)) if EXPLORE else (len(paths) - 2, len(paths) - 1)
    seen = 0
    for number in chosen:
        folder = Path(shutil.copytree(good, tmp_path / str(number)))
        path = files_of(folder)[number]
        damage(path)
        errors, warnings = case.survey(folder)
        assert not errors or path.name != INDEX
        assert path.name != INDEX or damage is deleted or warnings
        seen += bool(errors)
        if path.is_dir() and path.name == INDEX:
            with pytest.raises(IndexFailed, match="is a directory"):
                build(case.trace, folder)
        elif EXPLORE or path.name == INDEX:
            assert build(case.trace, folder).seconds is not None
            assert case.survey(folder) == ([], [])
    assert seen


@one
def test_swapped_files_are_noticed(case: Case, good: Path, tmp_path: Path) -> None:
    paths = [p for p in files_of(good) if p.suffix == ".parquet"]
    pairs = [(a, b) for a in range(len(paths)) for b in range(a)]
    seen = 0
    for one, two in pairs if EXPLORE else pairs[-3:]:
        folder = Path(shutil.copytree(good, tmp_path / f"{one}-{two}"))
        a, b = (files_of(folder)[i] for i in (one, two))
        for source, target in ((a, folder / "x"), (b, a), (folder / "x", b)):
            source.rename(target)
        seen += bool(case.survey(folder)[0])
    assert seen


@one
def test_an_index_of_another_trace_in_this_place(case: Case, good: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = mixed(tmp_path / "other" / "run", 300)
    build(other, tmp_path / "idx")
    (theirs,) = (tmp_path / "idx").iterdir()
    (ours,) = good.iterdir()
    shutil.copytree(theirs, tmp_path / "wrong" / ours.name)
    errors, warnings = case.survey(tmp_path / "wrong")
    assert errors == []
    assert "is of another trace: its files differ" in warnings[0]
    mixture = Path(shutil.copytree(good, tmp_path / "mixture")) / ours.name
    shutil.copy(theirs / INDEX, mixture / INDEX)
    errors, warnings = case.survey(tmp_path / "mixture")
    assert errors == []
    assert "is of another trace" in warnings[0]


@one
def test_a_store_of_another_generation(case: Case, tmp_path: Path) -> None:
    build(case.trace, tmp_path / "idx")
    old = Path(shutil.copytree(tmp_path / "idx", tmp_path / "old"))
    build(case.trace, tmp_path / "idx", force=True)
    (was,), (now,) = (sorted(p.rglob("store-*")) for p in (old, tmp_path / "idx"))
    assert was.name != now.name
    index = now.parent / INDEX
    kept = index.read_bytes()
    index.write_bytes((was.parent / INDEX).read_bytes())
    errors, _ = case.survey(tmp_path / "idx")
    assert errors
    assert all("cannot be read" in error.message for error in errors)
    index.write_bytes(kept)
    shutil.rmtree(now)
    shutil.copytree(was, now)
    case.survey(tmp_path / "idx")


@one
def test_an_index_of_another_version(case: Case, good: Path, tmp_path: Path) -> None:
    for version, age in ((FORMAT_VERSION + 1, "a newer"), (FORMAT_VERSION - 1, "an older")):
        folder = Path(shutil.copytree(good, tmp_path / age))
        (index,) = folder.rglob(INDEX)
        unsealed_copy(index, tmp_path / "copy")
        connection = sqlite3.connect(tmp_path / "copy")
        connection.execute(f"PRAGMA user_version = {version}")
        connection.close()
        seal(tmp_path / "copy")
        (tmp_path / "copy").replace(index)
        errors, warnings = case.survey(folder)
        assert errors == []
        assert f"was written by {age} dctv" in warnings[0]


def grown(path: Path) -> None:
    before = path.read_bytes()
    line = b'{"id":9,"name":"late","cat":"POSIX","pid":1,"tid":1,"ts":99999,"dur":1,"ph":"X","args":{}}\n'
    with path.open("ab") as file:
        file.write(gzip.compress(line) if before.startswith(b"\x1f\x8b") else line)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def of_same_size(path: Path) -> None:
    raw = path.read_bytes()
    bad = bytearray(raw)
    bad[len(raw) // 3 : len(raw) // 3 + 200] = bytes(range(200))
    path.write_bytes(bad)


def hidden(path: Path) -> None:
    """Change a name, where it can be seen, and something else, and restore the time of the change."""

    def change(raw: bytearray) -> None:
        raw[:] = raw.replace(b'"size":', b'"Size":')
        of_middle(raw)

    changed(path, change)


def of_middle(raw: bytearray) -> None:
    raw[len(raw) // 2] ^= 1


def renamed_over(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(sorted(path.parent.glob("*.pfw*"))[0].read_bytes())
    other.replace(path)


CHANGES = [grown, cut, of_same_size, hidden, renamed_over, deleted] if EXPLORE else [cut, hidden]


@pytest.fixture
def own(pfw: Case, tmp_path: Path) -> Case:
    return Case.of(Path(shutil.copytree(pfw.trace, tmp_path / "own")), PFW)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("rows", ["stored", pytest.param("in chunks", marks=pytest.mark.ci)])
def test_a_trace_that_changed_before_the_mount(
    own: Case, tmp_path: Path, change: Callable[[Path], None], rows: str
) -> None:
    build(own.trace, tmp_path / "idx", store=rows == "stored")
    for path in sorted(own.trace.iterdir())[1:]:
        change(path)
        try:
            now = now_of(own, index=False)
        except TraceError:
            with pytest.raises(TraceError):
                now_of(own, index_dir=tmp_path / "idx")
            continue
        assert now_of(own, index_dir=tmp_path / "idx") == now
        assert now_of(own, index=True, index_dir=tmp_path / "again") == now


def now_of(case: Case, **how: Any) -> list[object]:
    """What a new session answers: tables may have gone with their events."""
    with Session(**how) as session:
        session.mount(str(case.trace), "t")
        found: list[object] = []
        for sql in case.queries:
            try:
                found.append(session.sql(sql).fetchall())
            except QueryError as error:
                found.append(error.message)
        return found


@pytest.mark.parametrize("change", CHANGES)
def test_a_trace_that_changes_while_it_is_read_in_chunks(
    own: Case, tmp_path: Path, change: Callable[[Path], None]
) -> None:
    build(own.trace, tmp_path / "idx", store=False)
    for number, path in enumerate(sorted(own.trace.iterdir())):
        whole, status = path.read_bytes(), path.stat()
        with Session(index_dir=tmp_path / "idx") as session:
            session.mount(str(own.trace), "t")
            assert session.warnings() == [] or number
            if session.warnings():
                break
            change(path)
            errors = own.judge([ask(session, sql) for sql in own.queries])
            assert errors
            assert all(isinstance(error, TraceError) for error in errors)
        path.write_bytes(whole)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize("change", CHANGES)
def test_a_trace_that_changes_while_its_store_is_read(
    own: Case, tmp_path: Path, change: Callable[[Path], None]
) -> None:
    build(own.trace, tmp_path / "idx")
    with Session(index_dir=tmp_path / "idx") as session:
        session.mount(str(own.trace), "t")
        for path in sorted(own.trace.iterdir()):
            change(path)
            assert own.judge([ask(session, sql) for sql in own.queries]) == []


def flipped(path: Path) -> None:
    changed(path, of_middle)


def replaced(path: Path) -> None:
    """Put the file of another table here, or another state of it."""
    other = path.with_name("other")
    shutil.copy(sorted(path.parent.glob("*.parquet"))[0], other)
    changed(other, of_middle)
    other.replace(path)


@one
@pytest.mark.parametrize(
    "damage", [truncated, emptied, longer, deleted, a_folder, replaced, flipped] if EXPLORE else [deleted, flipped]
)
def test_a_store_that_changes_while_it_is_read(
    case: Case, good: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    folder = Path(shutil.copytree(good, tmp_path / "idx"))
    with Session(index_dir=folder) as session:
        session.mount(str(case.trace), "t")
        assert case.judge([ask(session, sql) for sql in case.queries]) == []
        for path in files_of(folder):
            if path.suffix == ".parquet":
                damage(path)
        errors = case.judge([ask(session, sql) for sql in case.queries])
        assert len(errors) > 4
        assert all(isinstance(error, IndexUnusable) for error in errors)
        assert not isinstance(ask(session, ANSWERED), IndexUnusable)


@one
def test_the_command_line_reports_damage(case: Case, good: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(good, tmp_path / "idx"))
    place = ("--index-dir", folder)
    query: tuple[str | Path, ...] = (
        "query",
        *place,
        "SELECT COUNT(size) FROM t.raw_events.read WHERE size > 0",
        f"t={case.trace}",
    )
    view: tuple[str | Path, ...] = ("view", *place, case.trace, "--where", "size > 100")
    assert [run(*words).code for words in (query, view)] == [0, 0]
    for path in files_of(folder):
        if path.suffix == ".parquet":
            changed(path, of_middle)
    for words in (query, view):
        ran = run(*words)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith("error: the stored table ")
        assert "is damaged" in ran.err
    ran = run("stats", *place, case.trace)
    assert (ran.code, ran.err) == (0, "")
    (index,) = folder.rglob(INDEX)
    changed(index, of_middle)
    for words in (query, view, ("stats", *place, case.trace)):
        ran = run(*words)
        assert ran.code == 0
        assert ran.err.startswith("warning: the index ")
        assert ran.err.count("\n") == 1


def test_nothing_is_written_beside_the_trace(own: Case, tmp_path: Path) -> None:
    before = listing(own.trace)
    changes = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "DCTV_INDEX_DIR": ""}
    for words in (
        ("query", "SELECT COUNT(*) FROM t.events", f"t={own.trace}"),
        ("index", own.trace),
        ("query", "SELECT COUNT(size) FROM t.raw_events.read", f"t={own.trace}"),
        ("view", own.trace, "--where", "size > 100"),
        ("stats", own.trace),
    ):
        assert run(*words, cwd=own.trace, **changes).code == 0
        assert listing(own.trace) == before
    assert len(list((tmp_path / "cache").rglob(INDEX))) == 1
