"""Timelines whose rows do not fit into memory."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.errors import UsageError
from dctv.timeline import names as of_names
from dctv.timeline.names import Names
from dctv.timeline.space import Space
from dctv.timeline.timeline import Timeline
from tests.bounds import bounded
from tests.timeline.rows import Row, indexed
from tests.timeline.test_timeline import cells, some_rows

FIRST, LAST = -(2**63), 2**63 - 1


@bounded(60)
@given(some_rows(), st.integers(0, 25), st.sampled_from([1, 8, 1 << 40]))
def test_timelines_on_disk_equal_those_in_memory(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row], cut: int, step: int
) -> None:
    folder = tmp_path_factory.mktemp("space")
    cut = min(cut, len(rows))
    there = Timeline([indexed(rows, cut, end=50)])
    on_disk = Timeline([indexed(rows, cut, end=50, space=Space(folder, most=0))])
    assert on_disk.tracks == there.tracks
    assert cells(on_disk, FIRST, LAST, step) == cells(there, FIRST, LAST, step)
    assert list(folder.iterdir()) == []


@pytest.fixture
def small_files() -> Iterator[None]:
    """Limit files to 4 KiB."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture(params=["as here", "as on macOS"])
def allocation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take room as the system does it that has a call for that, and as one that has none."""
    if request.param == "as on macOS":
        monkeypatch.delattr(os, "posix_fallocate")


@pytest.mark.usefixtures("allocation")
def test_a_file_has_the_room_that_it_is_to_have(tmp_path: Path) -> None:
    made = Space(tmp_path, most=0).array(400_001, "<i8")
    made[-1] = 7
    assert (made.nbytes, made.sum(), list(tmp_path.iterdir())) == (3_200_008, 7, [])


@pytest.mark.usefixtures("small_files", "allocation")
def test_a_disk_that_is_full(tmp_path: Path) -> None:
    rows = [Row(ts, 1, name=f"name {ts * 7919 % 1000}") for ts in range(2000)]
    with pytest.raises(UsageError, match=r"cannot write .* what does not fit into memory: File too large") as caught:
        indexed(rows, space=Space(tmp_path / "space", most=0))
    assert caught.value.hint is not None
    assert "--temp-directory" in caught.value.hint


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"cannot write .*file/space"):
        indexed([Row(1)], space=Space(tmp_path / "file" / "space", most=0))


@bounded(100)
@given(st.lists(st.lists(st.none() | st.sampled_from("abcdef"), max_size=5), max_size=8))
def test_names_are_known_by_number(batches: list[list[str | None]]) -> None:
    import pyarrow as pa

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_names, "_FEW", 2)
        found = Names()
        numbers = [number for batch in batches for number in found.add(pa.array(batch, pa.string())).tolist()]
        known, places = found.all()
    assert len(set(known.to_pylist())) == len(known)
    names = [None if number < 0 else known[int(places[number])].as_py() for number in numbers]
    assert names == [name for batch in batches for name in batch]
