"""What an index knows after it was built, when it is refused, and how it is extended."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import sqlite3
from pathlib import Path

import pytest

from dctv.errors import IndexFailed, IndexUnusable, UsageError
from dctv.index.build import IndexSettings, layout
from dctv.index.check import check
from dctv.index.database import Index
from dctv.index.finding import find
from dctv.index.identity import identity
from dctv.index.keeper import ensure
from dctv.index.location import INDEX, cache_folder, index_folder, subject
from dctv.index.opening import open_index
from dctv.index.schema import FORMAT_VERSION
from tests.bounds import EXPLORE
from tests.index.notes import NotesSorter, plan_of, trace_of, write_notes


def built(tmp_path: Path, lines: int = 1000, **settings: object) -> Index:
    path = write_notes(tmp_path / "a.notes", lines)
    other = write_notes(tmp_path / "b.notes", lines // 2, seed=3)
    trace = trace_of(path, other)
    index, made = ensure(trace, plan_of(trace, tmp_path / "idx", **settings))
    assert made is not None
    assert made.events == lines + lines // 2
    return index


def test_an_index_knows_its_trace(tmp_path: Path) -> None:
    index = built(tmp_path)
    assert [file.path.name for file in index.files] == ["a.notes", "b.notes"]
    assert len(index.chunks) == sum(len(file.chunks) for file in index.files) == 17
    assert sum(index.events) == sum(s.total_events for s in index.summaries) == 1500
    assert index.dimensions == {"name", "ts", "dur", "cat"}
    assert index.dimension("args.size") is None
    categories = index.dimension("cat")
    assert categories is not None
    assert {(s.minimum, s.maximum, s.distinct) for s in categories} == {("POSIX", "STDIO", 2)}
    assert sorted(index.blooms("cat")) == list(range(17))
    assert index.bloom("cat", 3) == index.blooms("cat")[3]
    assert index.hashes_of("fhash", "file number 3") == {"h3"}
    assert index.hashes_of("fhash", "file \ud800") == frozenset()
    assert index.hashes_with_prefix("fhash", "file number") == {f"h{i}" for i in range(7)}
    assert index.hashes_with_prefix("fhash", "filf") == frozenset()
    assert index.texts_of("fhash", "h0") == {"file number 0"}
    assert index.metadata.entries == {"start_ns": 1000, "lines": 1530}
    assert (0, "fhash", "h1", "file number 1") in index.metadata.hashes
    assert [c.number for c in index.checkpoints([2, 3])] == [2, 3]
    assert index.checkpoints() == index.checkpoints(range(17))
    store = index.store
    assert store is not None
    assert sum(table.rows for table in store.values()) == 1500
    for table in store.values():
        index.verify(table)


def test_a_pass_that_learnt_too_late_is_done_twice(tmp_path: Path) -> None:
    trace = trace_of(write_notes(tmp_path / "a.notes", 300), twice=True)
    index, made = ensure(trace, plan_of(trace, tmp_path / "idx"))
    assert made is not None
    assert made.events == sum(index.events) == 300
    assert index.store is not None
    assert sum(table.rows for table in index.store.values()) == 300


def test_a_good_index_is_found_and_a_missing_dimension_added(tmp_path: Path) -> None:
    index = built(tmp_path)
    trace = trace_of(*(file.path for file in index.files))
    again, made = ensure(trace, plan_of(trace, tmp_path / "idx"))
    assert made is None
    assert again.generation == index.generation
    before = index.dimension("cat")
    more, made = ensure(trace, plan_of(trace, tmp_path / "idx", dimensions=("args.size",)))
    assert made is not None
    assert more.generation == index.generation
    assert more.dimensions == {"name", "ts", "dur", "cat", "args.size"}
    sizes = more.dimension("args.size")
    assert sizes is not None
    assert (sizes[0].minimum, sizes[0].maximum, sizes[0].distinct) == ("0", "28", 29)
    assert more.dimension("cat") == before
    fresh, _ = ensure(trace, plan_of(trace, tmp_path / "other", dimensions=("args.size",)))
    assert dump(fresh) == dump(more)


def test_other_filters_are_made_without_another_store(tmp_path: Path) -> None:
    index = built(tmp_path)
    trace = trace_of(*(file.path for file in index.files))
    more, made = ensure(trace, plan_of(trace, tmp_path / "idx", expected_entries=99, false_positive_rate=0.001))
    assert made is not None
    assert more.generation == index.generation
    assert more.blooms("name").keys() == index.blooms("name").keys()
    assert more.blooms("name") != index.blooms("name")
    fresh, _ = ensure(
        trace, plan_of(trace, tmp_path / "other", expected_entries=99, false_positive_rate=0.001, store=False)
    )
    assert dump(fresh) == dump(more)
    assert fresh.store is None


def dump(index: Index) -> list[str]:
    connection = sqlite3.connect(f"file:{index.path}?mode=ro&immutable=1", uri=True)
    lines = [line for line in connection.iterdump() if '"about"' not in line and '"store_tables"' not in line]
    connection.close()
    return sorted(lines)


def test_unknown_dimensions_are_refused(tmp_path: Path) -> None:
    trace = trace_of(write_notes(tmp_path / "a.notes", 10))
    with pytest.raises(UsageError, match="found no dimension `size`"):
        layout(trace, IndexSettings(dimensions=("size",)))


def notes_of(tmp_path: Path) -> tuple[list[str], Index | None]:
    notes: list[str] = []
    trace = trace_of(tmp_path / "a.notes", tmp_path / "b.notes")
    return notes, find(trace.subject, tmp_path / "idx", notes.append)


def test_a_changed_trace_is_noticed(tmp_path: Path) -> None:
    index = built(tmp_path)
    path = index.files[1].path
    before = path.stat()
    raw = bytearray(path.read_bytes())
    raw[5] ^= 1
    path.write_bytes(raw)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    notes, found = notes_of(tmp_path)
    assert found is None
    assert notes == [f"`{path}` changed after it was indexed"]
    path.unlink()
    notes, found = notes_of(tmp_path)
    assert found is None
    assert notes == [f"cannot read `{path}`: no such file or directory"]


def test_an_index_of_another_trace_is_refused(tmp_path: Path) -> None:
    index = built(tmp_path)
    other = trace_of(write_notes(tmp_path / "c.notes", 5))
    with pytest.raises(IndexUnusable, match="is of another trace: its files differ"):
        open_index(index.folder, other.subject)
    options = trace_of(*(file.path for file in index.files), clock="mono")
    with pytest.raises(IndexUnusable, match="is of another trace: its format or options differ"):
        open_index(index.folder, options.subject)


def test_an_index_of_a_newer_program_is_refused_and_rebuilt(tmp_path: Path) -> None:
    from dctv.index.seal import seal, unsealed_copy

    index = built(tmp_path)
    unsealed_copy(index.path, tmp_path / "copy")
    connection = sqlite3.connect(tmp_path / "copy")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    seal(tmp_path / "copy")
    (tmp_path / "copy").replace(index.path)
    notes, found = notes_of(tmp_path)
    assert found is None
    assert f"was written by a newer dctv: found version 99, expected {FORMAT_VERSION}" in notes[0]
    trace = trace_of(*(file.path for file in index.files))
    _, made = ensure(trace, plan_of(trace, tmp_path / "idx"))
    assert made is not None


def test_no_flipped_bit_goes_unnoticed(tmp_path: Path) -> None:
    index = built(tmp_path, 300)
    about = trace_of(*(file.path for file in index.files)).subject
    raw = index.path.read_bytes()
    draw = random.Random(None if EXPLORE else 7)
    places = [
        *range(0, 100, 9),
        *range(len(raw) - 24, len(raw)),
        *(draw.randrange(len(raw)) for _ in range(1000 if EXPLORE else 60)),
    ]
    for place in places:
        bad = bytearray(raw)
        bad[place] ^= 1 << draw.randrange(8)
        index.path.write_bytes(bad)
        with pytest.raises(IndexUnusable):
            open_index(index.folder, about)
    for length in (0, 1, 23, 24, 100, len(raw) - 1):
        index.path.write_bytes(raw[:length])
        with pytest.raises(IndexUnusable):
            open_index(index.folder, about)
    index.path.write_bytes(raw)
    good = open_index(index.folder, about)
    assert good is not None


def test_a_damaged_store_is_noticed_and_rebuilt(tmp_path: Path) -> None:
    index = built(tmp_path)
    store = index.store
    assert store is not None
    table = store["raw_events.read"]
    raw = bytearray(table.path.read_bytes())
    before = table.path.stat()
    raw[len(raw) // 2] ^= 1
    table.path.write_bytes(raw)
    os.utime(table.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(IndexUnusable, match="is damaged"):
        index.verify(table)
    index.close()
    trace = trace_of(*(file.path for file in index.files))
    again, made = ensure(trace, plan_of(trace, tmp_path / "idx"))
    assert made is not None
    assert again.generation != index.generation
    assert [p.name for p in again.folder.glob("store-*")] == [f"store-{again.generation}"]


def test_a_copied_index_is_read_through_and_trusted(tmp_path: Path) -> None:
    index = built(tmp_path)
    store = index.store
    assert store is not None
    for table in store.values():
        raw = table.path.read_bytes()
        table.path.unlink()
        table.path.write_bytes(raw)
        index.verify(table)


def test_check_finds_nothing_in_a_good_index(tmp_path: Path) -> None:
    index = built(tmp_path, dimensions=("args.size",))
    trace = trace_of(*(file.path for file in index.files))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    assert check(trace, index, NotesSorter, scratch) == []


DAMAGE = {
    "UPDATE chunk_statistics SET total_events = 7 WHERE checkpoint_idx = 2 AND file_info_id = 0": "chunk_statistics",
    "UPDATE chunk_dimension_stats SET max_value = 'Q' WHERE dimension = 'cat'": "chunk_dimension_stats",
    "UPDATE chunk_bloom_filters SET bloom_data = emptied(bloom_data)": "denies",
    "DELETE FROM hash_resolutions WHERE hash_value = 'h3'": "a row of hash_resolutions is missing",
    "UPDATE about SET value = '{}' WHERE key = 'facts'": "`facts` differs",
    "DELETE FROM store_tables WHERE position = 0": "the stored table `raw_events.read` is missing",
}


@pytest.mark.parametrize("statement", DAMAGE)
def test_check_finds_damage(tmp_path: Path, statement: str) -> None:
    from dctv.index.seal import seal, unsealed_copy

    index = built(tmp_path)
    trace = trace_of(*(file.path for file in index.files))
    unsealed_copy(index.path, tmp_path / "copy")
    connection = sqlite3.connect(tmp_path / "copy")
    connection.create_function("emptied", 1, lambda bloom: bloom[:12] + bytes(len(bloom) - 12))
    connection.execute(statement)
    connection.commit()
    connection.close()
    seal(tmp_path / "copy")
    (tmp_path / "copy").replace(index.path)
    wrong = open_index(index.folder, trace.subject)
    assert wrong is not None
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    assert DAMAGE[statement] in "\n".join(check(trace, wrong, NotesSorter, scratch))


def test_a_trace_that_changes_meanwhile_is_noticed(tmp_path: Path) -> None:
    path = write_notes(tmp_path / "a.notes", 300)
    trace = trace_of(path)

    def grow(_done: int, _total: int) -> None:
        with path.open("a", encoding="utf-8") as file:
            file.write("read,POSIX,1,1,1\n")

    growing = dataclasses.replace(trace, context=dataclasses.replace(trace.context, progress=grow))
    with pytest.raises(IndexFailed, match="changed while it was indexed"):
        ensure(growing, plan_of(trace, tmp_path / "idx"))
    folder = index_folder(trace.subject, tmp_path / "idx")
    assert sorted(p.name for p in folder.iterdir()) == ["building.lock", "lock"]


def test_a_read_only_folder_is_enough_to_read(tmp_path: Path) -> None:
    index = built(tmp_path)
    index.close()
    for name in ("lock", "building.lock"):
        (index.folder / name).unlink()
    index.folder.chmod(0o555)
    try:
        notes, found = notes_of(tmp_path)
    finally:
        index.folder.chmod(0o755)
    assert notes == []
    assert found is not None
    assert sum(found.events) == 1500


def test_where_indexes_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "dctv" / "index"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / ".cache" / "dctv" / "index"
    one = subject([tmp_path / "x.pfw.gz"], "dftracer", {})
    two = subject([tmp_path / "x.pfw.gz"], "dftracer", {"clock": "mono"})
    three = subject([tmp_path / "x.pfw.gz", tmp_path / "y.pfw.gz"], "dftracer", {})
    assert len({one.key, two.key, three.key}) == 3
    (tmp_path / "link").symlink_to(tmp_path / "x.pfw.gz")
    assert subject([tmp_path / "link"], "dftracer", {}).key == one.key
    assert index_folder(one, tmp_path).name == f"x.pfw.gz-{one.key[:12]}"
    assert index_folder(three, tmp_path).name == f"{tmp_path.name}-{three.key[:12]}"
    assert index_folder(subject([tmp_path / "../..a b"], "r", {}), tmp_path).name.startswith("a_b-")


def test_identities_distinguish_files(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(200_000))
    os.utime(path, ns=(1, 1))
    seen = {identity(path)}
    for place in (0, 65535, 199_999, 134_465):
        raw = bytearray(200_000)
        raw[place] = 1
        path.write_bytes(raw)
        os.utime(path, ns=(1, 1))
        seen.add(identity(path))
    os.utime(path, ns=(2, 2))
    seen.add(identity(path))
    path.write_bytes(bytes(199_999))
    seen.add(identity(path))
    assert len(seen) == 7
    path.write_bytes(b"")
    assert identity(path).size == 0


def test_metadata_round_trips(tmp_path: Path) -> None:
    index = built(tmp_path)
    assert index.entries == json.loads(json.dumps(index.entries))


def test_nothing_is_written_beside_the_trace(tmp_path: Path) -> None:
    index = built(tmp_path)
    assert index.folder.parent == tmp_path / "idx"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.notes", "b.notes", "idx"]
    assert sorted(p.name for p in index.folder.iterdir()) == [
        "building.lock",
        "lock",
        f"store-{index.generation}",
        INDEX,
    ]
