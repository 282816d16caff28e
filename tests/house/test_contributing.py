"""What CONTRIBUTING and the pages on the code name exists: files and folders, targets of `make`, identifiers."""

from __future__ import annotations

import re

import pytest

from tests.house.tree import ROOT, files

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
QUOTED = sorted(set(re.findall(r"`([^`\n]+)`", re.sub(r"\s+", " ", TEXT))))
PATHS = [one for one in QUOTED if re.fullmatch(r"[.\w*/-]+/[.\w*/-]*", one)]
MODULES = sorted(
    (page.name, path)
    for page in (ROOT / "docs" / "explanation").glob("*.md")
    for path in set(re.findall(r"`(\w[\w/]*/\w+\.(?:py|rs|toml|lark))`", page.read_text(encoding="utf-8")))
)
"""Files that a page names, below the package or the kernels."""
TARGETS = sorted(set(re.findall(r"\bmake ([a-z][a-z-]*)\b(?=`|  +#)", TEXT)))
NAMES = [one for one in QUOTED if re.fullmatch(r"[A-Za-z_]\w*(\(\))?", one)]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_leads_somewhere(path: str) -> None:
    assert list(ROOT.glob(path.removesuffix("/"))), path


def test_a_module_that_a_page_names_exists() -> None:
    places = [ROOT, ROOT / "dctv", ROOT / "dctv" / "readers", ROOT / "kernels", ROOT / "kernels" / "src"]
    assert [one for one in MODULES if not any((place / one[1]).exists() for place in places)] == []


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_can_be_made(target: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_a_name_occurs_in_the_code() -> None:
    code = "\n".join(
        path.read_text(encoding="utf-8")
        for path in files(".py", ".pyi", ".rs", ".toml", ".ts")
        if path.name != "test_contributing.py"
    )
    words = set(re.findall(r"\w+", code))
    assert [name for name in NAMES if name.removesuffix("()") not in words] == []


def test_every_named_kind_exists() -> None:
    assert min(map(len, (PATHS, MODULES, TARGETS, NAMES))) > 5
