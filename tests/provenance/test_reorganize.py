"""Traces into groups and back: nothing lost, nothing doubled, the originals byte for byte."""

import errno
import gzip
import itertools
import json
import os
import resource
import signal
import sqlite3
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.errors import DctvError, TraceError, UsageError
from dctv.provenance.database import _TABLES, NAME
from dctv.provenance.groups import ReorganizeRequest
from dctv.provenance.outputs import GzipOutput
from dctv.provenance.restore import RestoreVerdict, restore, verify
from dctv.session import Session
from tests.bounds import bounded

GROUPS = {"reads": 'name == "read"', "posix": 'cat == "POSIX" and dur > 20', "slow": "dur >= 90"}


def nothing(_done: int, _total: int) -> None:
    """Show no progress."""


def event(number: int, name: str = "read", cat: str = "POSIX", pid: int = 7) -> str:
    args = {"fhash": "00000000000000aa", "size": number * 3}
    record = {"id": number, "name": name, "cat": cat, "pid": pid, "tid": pid, "ts": 1000 + number * 10}
    return json.dumps({**record, "dur": number % 100, "ph": 1, "args": args}, separators=(",", ":"))


def metadata(text: str, digest: str = "00000000000000aa", pid: int = 7) -> str:
    args = {"hhash": "00000000000000bb", "name": text, "value": digest}
    return json.dumps({"name": "FH", "cat": "dftracer", "pid": pid, "tid": pid, "ph": 4, "args": args})


def unit(value: str, pid: int = 7) -> str:
    args = {"hhash": "00000000000000bb", "name": "time_metric", "value": value}
    return json.dumps({"name": "CM", "cat": "dftracer", "pid": pid, "tid": pid, "ph": 4, "args": args})


def written(folder: Path, files: dict[str, list[str]]) -> list[str]:
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in files.items():
        text = "".join(f"{line}\n" for line in lines).encode()
        (folder / name).write_bytes(gzip.compress(text, 6, mtime=0) if name.endswith(".gz") else text)
    return [str(folder / name) for name in files]


def sorted_out(paths: list[str], target: Path, *, parquet: bool = False, groups: dict[str, str] = GROUPS) -> list[str]:
    with Session() as session:
        files, _ = session.reorganize(paths, ReorganizeRequest(groups, target, parquet=parquet))
    return [f"{one.path}: {one.events}" for one in files]


def events_of(path: str | list[str]) -> Counter[tuple[object, ...]]:
    with Session(index=False) as session:
        session.mount(path, "t")
        start = int(session.sql("SELECT value FROM t.properties WHERE key = 'start_ns'").fetchall()[0][0])
        rows = session.sql("SELECT * FROM t.events").fetchall()
    # The order of arguments is that in which the trace first has them.
    return Counter((row[0] + start, *row[1:-1], json.dumps(json.loads(row[-1]), sort_keys=True)) for row in rows)


@pytest.fixture
def trace(tmp_path: Path) -> list[str]:
    one = [
        "[",
        metadata("/data/a"),
        *(event(n, ("read", "write", "open64")[n % 3]) for n in range(200)),
        "{broken",
        "]",
    ]
    two = [metadata("/data/a", pid=8), *(event(n, "compute", "APP", 8) for n in range(150)), "", event(900, pid=8)]
    return written(tmp_path / "trace", {"a.pfw.gz": one, "b.pfw": two})


@pytest.mark.parametrize("parquet", [False, True])
def test_groups_hold_the_events_and_restore_to_the_originals(
    tmp_path: Path, trace: list[str], *, parquet: bool
) -> None:
    before = events_of(trace)
    suffix = "parquet" if parquet else "pfw.gz"
    assert sorted_out(trace, tmp_path / "out", parquet=parquet) == [
        f"reads.{suffix}: 68",
        f"posix.{suffix}: 105",
        f"slow.{suffix}: 10",
        f"rest.{suffix}: 168",
    ]
    assert verify(tmp_path / "out", nothing) == RestoreVerdict(2, 357, 351, [])
    assert events_of(str(tmp_path / "out")) == before
    reads = events_of(str(tmp_path / "out" / f"reads.{suffix}"))
    assert sum(reads.values()) == 68
    assert {row[2] for row in reads} == {"read"}
    back = restore(tmp_path / "out", tmp_path / "back", nothing)
    assert [path.name for path in back] == ["a.pfw.gz", "b.pfw"]
    for path, original in zip(back, trace, strict=True):
        assert path.read_bytes() == Path(original).read_bytes()


def slices(path: str | list[str]) -> list[tuple[object, ...]]:
    with Session(index=False) as session:
        session.mount(path, "t")
        return session.sql("SELECT name, COUNT(*), SUM(_duration) FROM t.slices GROUP BY name ORDER BY name").fetchall()


def test_views_of_records_match_their_format(tmp_path: Path, trace: list[str]) -> None:
    sorted_out(trace, tmp_path / "out", parquet=True)
    assert slices(str(tmp_path / "out")) == slices(trace) != []


LINES = st.one_of(
    st.builds(
        event,
        st.integers(0, 500),
        st.sampled_from(["read", "write", "step"]),
        st.sampled_from(["POSIX", "APP"]),
    ),
    st.sampled_from(["", "[", "]", "{broken", "  ", metadata("/data/a"), '{"x":1}']),
)


@bounded(25)
@given(
    files=st.lists(st.lists(LINES, max_size=30), min_size=1, max_size=3),
    whole=st.booleans(),
    members=st.integers(1, 3),
    parquet=st.booleans(),
)
def test_any_lines_are_restored(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[str]], members: int, *, whole: bool, parquet: bool
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "trace").mkdir()
    paths = []
    for number, lines in enumerate([[event(1)], *files]):
        text = "\n".join(lines).encode() + (b"\n" if whole else b"")
        cut = [len(text) * i // members for i in range(members + 1)]
        parts = [zlib.compress(text[a:b], 6, wbits=31) for a, b in itertools.pairwise(cut)]
        (folder / "trace" / f"{number}.pfw.gz").write_bytes(b"".join(parts))
        paths.append(str(folder / "trace" / f"{number}.pfw.gz"))
    sorted_out([str(folder / "trace")], folder / "out", parquet=parquet)
    verdict = verify(folder / "out", nothing)
    assert verdict.problems == []
    assert events_of(str(folder / "out")) == events_of(str(folder / "trace"))
    for path, original in zip(restore(folder / "out", folder / "back", nothing), paths, strict=True):
        assert path.read_bytes() == Path(original).read_bytes()


def test_files_of_other_time_units_stay_apart(tmp_path: Path) -> None:
    files = {"us.pfw": [unit("US"), event(1), event(2)], "ns.pfw": [unit("NS"), event(3), event(4)]}
    paths = written(tmp_path / "trace", files)
    assert sorted_out(paths, tmp_path / "out", groups={"reads": 'name == "read"'}) == [
        "reads.pfw.gz: 2",
        "rest.pfw.gz: 0",
        "reads-2.pfw.gz: 2",
        "rest-2.pfw.gz: 0",
    ]
    assert events_of(str(tmp_path / "out")) == events_of(paths)


def test_files_with_other_texts_for_a_hash_stay_apart(tmp_path: Path) -> None:
    files = {"a.pfw": [metadata("/data/a"), event(1)], "b.pfw": [metadata("/data/b"), event(2)]}
    paths = written(tmp_path / "trace", files)
    sorted_out(paths, tmp_path / "out", groups={"reads": 'name == "read"'})
    assert events_of(str(tmp_path / "out")) == events_of(paths)
    assert (tmp_path / "out" / "reads-2.pfw.gz").exists()


def test_files_that_cannot_be_recompressed_exactly_are_kept(tmp_path: Path, trace: list[str]) -> None:
    raw = Path(trace[0]).read_bytes() + b"garbage"
    Path(trace[0]).write_bytes(raw)
    sorted_out(trace, tmp_path / "out")
    assert verify(tmp_path / "out", nothing).problems == []
    assert restore(tmp_path / "out", tmp_path / "back", nothing)[0].read_bytes() == raw


def test_a_changed_output_is_noticed(tmp_path: Path, trace: list[str]) -> None:
    sorted_out(trace, tmp_path / "out")
    path = tmp_path / "out" / "reads.pfw.gz"
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join([*lines[:5], *lines[6:]])))
    assert verify(tmp_path / "out", nothing).problems == ["`reads.pfw.gz` is not the file that was written"]
    with pytest.raises(TraceError):
        restore(tmp_path / "out", tmp_path / "back", nothing)
    assert not list((tmp_path / "back").glob("*"))


def test_an_index_that_loses_a_line_is_noticed(tmp_path: Path, trace: list[str]) -> None:
    sorted_out(trace, tmp_path / "out")
    with sqlite3.connect(tmp_path / "out" / NAME) as connection:
        connection.execute("UPDATE provenance_segments SET output_line_end = output_line_end - 1 WHERE output_id = 0")
    assert len(verify(tmp_path / "out", nothing).problems) == 1


def test_a_name_outside_of_the_folder_is_refused(tmp_path: Path, trace: list[str]) -> None:
    sorted_out(trace, tmp_path / "out")
    with sqlite3.connect(tmp_path / "out" / NAME) as connection:
        connection.execute("UPDATE provenance_sources SET path = '../../stolen'")
    with pytest.raises(TraceError, match=r"names a file outside of its folder: `../../stolen`"):
        restore(tmp_path / "out", tmp_path / "back", nothing)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"a/b": "dur > 1"}, "`a/b` cannot be a group's name"),
        ({"rest": "dur > 1"}, "the group `rest` is reserved for events that no other group takes"),
        ({"a": "dur >"}, "expected"),
    ],
)
def test_bad_groups_are_refused(tmp_path: Path, trace: list[str], groups: dict[str, str], message: str) -> None:
    with pytest.raises(DctvError, match=message):
        sorted_out(trace, tmp_path / "out", groups=groups)
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


def test_a_folder_with_files_is_refused(tmp_path: Path, trace: list[str]) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").write_text("keep")
    with pytest.raises(UsageError, match="is not empty"):
        sorted_out(trace, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["precious"]


def test_a_file_cannot_be_the_folder(tmp_path: Path, trace: list[str]) -> None:
    (tmp_path / "out").write_text("keep")
    with pytest.raises(DctvError, match=r"cannot write `.*/out`: not a directory"):
        sorted_out(trace, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "keep"


def test_restoring_names_the_file_that_is_missing(tmp_path: Path, trace: list[str]) -> None:
    sorted_out(trace, tmp_path / "out")
    (tmp_path / "out" / "rest.pfw.gz").unlink()
    with pytest.raises(TraceError, match=r"the file `.*rest.pfw.gz` is missing"):
        restore(tmp_path / "out", tmp_path / "back", nothing)
    assert not (tmp_path / "back").exists()


@contextmanager
def no_larger_files(size: int) -> Iterator[None]:
    """Let writes fail where a file would become larger than this."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def full(*_: object) -> NoReturn:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


FULL = r"cannot write `.*/new/out`: no space left on device"


@pytest.mark.parametrize("call", ["Descriptor.write", "GzipOutput._flush", "Path.rename"])
@pytest.mark.parametrize("was_there", [False, True])
def test_a_full_disk_leaves_no_groups(
    tmp_path: Path, trace: list[str], monkeypatch: pytest.MonkeyPatch, call: str, *, was_there: bool
) -> None:
    if was_there:
        (tmp_path / "new" / "out").mkdir(parents=True)
    owner, _, method = call.partition(".")
    if owner == "Descriptor":
        monkeypatch.setattr("dctv.whole_file.os.write", full)
    else:
        whole: type[object] = {"GzipOutput": GzipOutput, "Path": Path}[owner]
        real, calls = getattr(whole, method), itertools.count()
        monkeypatch.setattr(whole, method, lambda *given: full() if next(calls) == 2 else real(*given))
    with pytest.raises(UsageError, match=FULL):
        sorted_out(trace, tmp_path / "new" / "out", parquet=owner == "Descriptor")
    assert list((tmp_path / "new").rglob("*")) == ([tmp_path / "new" / "out"] if was_there else [])
    assert (tmp_path / "new").exists() == was_there


@pytest.mark.parametrize("pages", [3, 30])
def test_a_full_disk_leaves_no_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pages: int) -> None:
    """SQLite has no more than some pages: too few for its tables, or for the many members of a source."""
    monkeypatch.setattr("dctv.provenance.database._TABLES", f"PRAGMA max_page_count = {pages};{_TABLES}")
    source = tmp_path / "a.pfw.gz"
    source.write_bytes(b"".join(gzip.compress(f"{event(n)}\n".encode()) for n in range(3000)))
    with pytest.raises(UsageError, match=FULL):
        sorted_out([str(source)], tmp_path / "new" / "out")
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize("size", [100, 4000])
@pytest.mark.parametrize("was_there", [False, True])
def test_a_full_disk_leaves_nothing_restored(tmp_path: Path, trace: list[str], size: int, *, was_there: bool) -> None:
    """The first file fails, or it is restored and the second fails."""
    first, second = (Path(one).stat().st_size for one in trace)
    assert 100 < first <= 4000 < second
    sorted_out(trace, tmp_path / "out")
    target = tmp_path / "new" / "back"
    if was_there:
        target.mkdir(parents=True)
    with no_larger_files(size), pytest.raises(UsageError, match=r"cannot write `.*/new/back`: file too large"):
        restore(tmp_path / "out", target, nothing)
    assert list(target.rglob("*")) == []
    assert (tmp_path / "new").exists() == was_there
    assert len(restore(tmp_path / "out", target, nothing)) == 2


def test_a_folder_without_provenance_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=f"no `{NAME}`"):
        verify(tmp_path, nothing)


def test_more_files_than_can_be_numbered_are_refused(
    tmp_path: Path, trace: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dctv.provenance.split.MOST_FILES", 3)
    with pytest.raises(UsageError, match="the groups would take 4 files, at most 3 can be told apart"):
        sorted_out(trace, tmp_path / "out")
    assert not (tmp_path / "out").exists()
