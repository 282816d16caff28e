"""The parse table of a grammar is the same wherever it is compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMPILE = (
    "import sys; from pathlib import Path; from dctv.syntax.table import write_table; write_table(Path(sys.argv[1]))"
)


@pytest.mark.ci
def test_two_processes_write_the_same_table(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        (tmp_path / seed).mkdir()
        subprocess.run(
            [sys.executable, "-c", COMPILE, str(tmp_path / seed)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
        )
    one, other = ((tmp_path / seed / "grammar.json").read_bytes() for seed in ("1", "2"))
    assert one == other
