"""Every `.test` file over traces gives the same text when these are read by their column stores, or by chunks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from dctv.catalog.files import find_traces
from dctv.index.build import IndexSettings
from dctv.index.request import IndexRequest
from dctv.session import Session
from tests import sqltest
from tests.sqltest import BLOCK, ROOT

FILES = sorted([*(ROOT / "tests" / "sql").rglob("*.test"), *(ROOT / "tests" / "stdlib").rglob("*.test")])
MOUNTING = [path for path in FILES if any(b["name"] for b in BLOCK.finditer(path.read_text(encoding="utf-8")))]

KEPT = {
    "sql/errors/other_tools.test",
    "stdlib/io/by_path.test",
    "stdlib/io/calls.test",
    "stdlib/memory/processes.test",
    "stdlib/samples/by_function.test",
    "stdlib/samples/samples.test",
    "stdlib/scheduler/cpu_utilisation_by.test",
    "stdlib/syscalls/architecture.test",
    "stdlib/timeline/calls.test",
    "stdlib/timeline/cpu_running.test",
    "stdlib/timeline/slices.test",
    "stdlib/vocabulary/threads.test",
}
"""Files that `make test` reads by stores, and CI by chunks as well, some of each format; the others are left to CI."""


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT / "tests"))


def comparable(text: str) -> list[str]:
    """Return the outputs of all blocks, without those of EXPLAIN, which tell where rows come from."""
    parts = [*BLOCK.finditer(text)]
    return [b.group() for b in parts if b["sql"] is None or not b["sql"].lstrip().upper().startswith("EXPLAIN")]


@pytest.mark.parametrize(
    ("path", "store"),
    [
        *(
            pytest.param(one, True, id=name_of(one), marks=() if name_of(one) in KEPT else pytest.mark.ci)
            for one in MOUNTING
        ),
        *(
            pytest.param(one, False, id=f"{name_of(one)}-chunks", marks=pytest.mark.ci)
            for one in MOUNTING
            if name_of(one) in KEPT
        ),
    ],
)
def test_same_text(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, store: bool) -> None:
    text = path.read_text(encoding="utf-8")

    class Indexed(Session):
        """A session that reads every trace by an index."""

        def __init__(self, **_: object) -> None:
            """Read by indexes, though tests of text do without."""
            super().__init__(index_dir=tmp_path)

        def mount(self, path: str | Path | Sequence[str | Path], name: str, /, **options: object) -> None:
            """Index a trace first, if its format can be read so."""
            assert isinstance(path, str)
            chunks = find_traces([path], self._context.registries.readers, None).reader.chunks
            if chunks is not None and (store or chunks.decode is not None):
                self.index(path, IndexRequest(IndexSettings(store=store)))
            super().mount(path, name, **options)

    monkeypatch.setattr(sqltest, "Session", Indexed)
    assert comparable(sqltest.rewritten(text)) == comparable(text)


def test_every_format_that_has_stores_is_kept() -> None:
    formats: dict[str, set[str]] = {}
    with Session(index=False) as session:
        registry = session._context.registries.readers
        for file in MOUNTING:
            for block in BLOCK.finditer(file.read_text(encoding="utf-8")):
                if block["name"]:
                    reader = find_traces([str(ROOT / block["path"])], registry, None).reader
                    formats.setdefault(reader.name if reader.chunks is not None else "", set()).add(name_of(file))
    assert [name for name, files in formats.items() if name and not files & KEPT] == []
    assert {*map(name_of, MOUNTING)} >= KEPT
