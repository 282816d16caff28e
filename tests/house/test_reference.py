"""What the shelves hold is what docs/reference says, and architecture.md shows the packages there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from dctv.catalog.stdlib import modules
from docs.generate import REFERENCE, pages
from tests.house.tree import ROOT, short

PAGES = list(pages())


@pytest.mark.parametrize(("path", "text"), PAGES, ids=lambda v: short(v) if isinstance(v, Path) else "")
def test_page_says_what_the_shelves_say(path: Path, text: str) -> None:
    """`make accept` writes the pages."""
    assert path.read_text(encoding="utf-8") == text


def test_every_format_of_the_standard_library_has_a_page() -> None:
    """A format without a sample in docs/generate.py would be left out of the reference silently."""
    text = (REFERENCE / "stdlib.md").read_text(encoding="utf-8")
    wanted = {f"## Traces of format `{name}`" for module in modules() for name in module.formats}
    assert {line for line in text.splitlines() if line.startswith("## Traces of format")} == wanted


def test_every_view_says_what_it_and_its_columns_hold() -> None:
    assert modules()
    for module in modules():
        assert module.doc.endswith(".")
        assert module.columns
        assert f"### `{'.'.join(module.parts)}`" in (REFERENCE / "stdlib.md").read_text(encoding="utf-8")


def test_every_package_is_in_the_picture() -> None:
    text = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    packages = [short(p.parent) for p in sorted((ROOT / "dctv").glob("*/__init__.py"))]
    assert [p for p in packages if f"{p}/ " not in text] == []
