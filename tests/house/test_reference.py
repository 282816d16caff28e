"""What the registries hold is what docs/reference says, and architecture.md shows the packages there are."""

from __future__ import annotations

from dctv.catalog.mount import HIDDEN
from dctv.catalog.stdlib import EVERY, modules
from docs.generate import REFERENCE, pages
from tests.house.tree import ROOT, short


def test_reference_pages_are_up_to_date() -> None:
    """`make accept` writes the pages."""
    stale = [short(path) for path, text in pages() if path.read_text(encoding="utf-8") != text]
    assert stale == []


def test_every_view_has_descriptions_and_formats() -> None:
    text = (REFERENCE / "stdlib.md").read_text(encoding="utf-8")
    sections = {part.partition("\n")[0]: part for part in text.split("\n### ")[1:]}
    shown = [module for module in modules() if module.parts[0] not in HIDDEN]
    assert len(shown) == len(sections)
    for module in shown:
        assert module.doc.endswith(".")
        assert module.columns
        section = sections[f"`{'.'.join(module.parts)}`"]
        named = EVERY in module.formats or all(f"`{name}`" in section for name in module.formats)
        assert named, module.parts


def test_every_package_is_in_the_picture() -> None:
    text = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    packages = [short(p.parent) for p in sorted((ROOT / "dctv").glob("*/__init__.py"))]
    assert [p for p in packages if f"{p}/ " not in text] == []
