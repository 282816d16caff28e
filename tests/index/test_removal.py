"""Folders go with all that is in them, and nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from dctv.index.removal import remove


@pytest.mark.parametrize("names", [[], ["a", "b"], ["a", "inner/b", "inner/more/c"]])
def test_a_folder_goes_with_what_is_in_it(tmp_path: Path, names: list[str]) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    remove(folder)
    assert not list(tmp_path.iterdir())


def test_links_are_removed_and_what_they_mean_stays(tmp_path: Path) -> None:
    kept, folder = tmp_path / "kept", tmp_path / "folder"
    for path in (kept, folder):
        path.mkdir()
    (kept / "a").write_text("a")
    (folder / "file").symlink_to(kept / "a")
    (folder / "folder").symlink_to(kept)
    remove(folder)
    assert not folder.exists()
    (tmp_path / "link").symlink_to(kept)
    remove(tmp_path / "link")
    remove(tmp_path / "nothing")
    assert (kept / "a").read_text() == "a"
