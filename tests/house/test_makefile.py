"""What `make` runs can be run, and a first build says how long it takes."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def test_scripts_are_run_by_the_interpreter() -> None:
    """The marker of the installation is no program."""
    lines = re.findall(r"^\t(.*\S*\.py\b.*)$", MAKEFILE, re.MULTILINE)
    assert lines
    for line in lines:
        assert "$(BIN)/python" in line, line


def test_scripts_are_there() -> None:
    for script in re.findall(r"(?:benchmarks|docs|tests)/\w+\.py", MAKEFILE):
        assert (ROOT / script).is_file(), script


def test_a_first_build_is_announced(tmp_path: Path) -> None:
    """The first lines of what would be run for a demonstration say what it waits for."""
    done = subprocess.run(
        ["make", "--dry-run", "demo", f"VENV={tmp_path / 'none'}"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    position = done.stdout.index("takes 2 to 8 minutes the first time")
    assert position < done.stdout.index("pip install -v --editable")
