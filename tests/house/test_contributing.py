"""What CONTRIBUTING names exists: files and folders, targets of `make`, and identifiers of the code."""

from __future__ import annotations

import re

import pytest

from tests.house.tree import ROOT, files

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
QUOTED = sorted(set(re.findall(r"`([^`\n]+)`", re.sub(r"\s+", " ", TEXT))))
PATHS = [one for one in QUOTED if re.fullmatch(r"[.\w*/-]+/[.\w*/-]*", one)]
TARGETS = sorted(set(re.findall(r"\bmake ([a-z][a-z-]*)\b(?=`|  +#)", TEXT)))
NAMES = [one for one in QUOTED if re.fullmatch(r"[A-Za-z_]\w*(\(\))?", one)]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_leads_somewhere(path: str) -> None:
    assert list(ROOT.glob(path.removesuffix("/"))), path


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
    assert min(map(len, (PATHS, TARGETS, NAMES))) > 5
