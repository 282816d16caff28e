"""Recordings of calls, printed by dctv, against what the real tool printed of them, line for line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import run

PAGE = "--format=mermaid"
"""A page: the graph in it is what counts, the rest is dctv's own."""


def root() -> Path:
    folder = os.environ.get("DCTV_TRACES")
    if folder is None:
        pytest.fail("the environment variable DCTV_TRACES does not say where the trace collection is")
    return Path(folder) / "uftrace_goldens"


def cases() -> list[Any]:
    """Return the cases of the commands that there are; none where there is no collection."""
    folder = os.environ.get("DCTV_TRACES")
    manifest = Path(folder or ".") / "uftrace_goldens" / "manifest.json"
    found = json.loads(manifest.read_text()) if folder and manifest.is_file() else []
    return [pytest.param(case, id=f"{case['id']} {' '.join(case['args'])}") for case in found]


def graph(page: str) -> str:
    """Return the lines of the graph in a page."""
    return page[page.index("flowchart TB\n") : page.index("</div>\n<script")]


def test_there_are_cases() -> None:
    assert (root() / "manifest.json").is_file()
    assert len(cases()) == 83


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where indexes are, each built for the first case of a recording."""
    return tmp_path_factory.mktemp("indexes")


@pytest.mark.parametrize("stored", [False, True], ids=["whole", "stored"])
@pytest.mark.parametrize("case", cases())
def test_output_is_that_of_the_tool(case: dict[str, Any], folder: Path, *, stored: bool) -> None:
    command, *options = case["args"]
    index = ["--index", "--index-dir", folder] if stored else ["--no-index"]
    ran = run(command, root() / case["data"], *options, *index)
    expected = (root() / case["file"]).read_text()
    if PAGE in options:
        assert graph(ran.out) == graph(expected)
    else:
        assert ran.out == expected
    assert ran.code == case["rc"]
