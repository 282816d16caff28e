"""What starting loads: help and `import dctv` must not wait for engines."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.house.tree import ROOT

HEAVY = (
    *("duckdb", "google.protobuf", "lark", "numpy", "pandas", "perfetto", "pint", "polars", "prompt_toolkit"),
    *("pyarrow", "rich", "sqlglot"),
)
REPORT = "print('loaded:', *sorted(set(%r) & set(sys.modules)))"


def loaded(work: str) -> str:
    program = f"import sys\ntry:\n    {work}\nexcept SystemExit:\n    pass\n{REPORT % (HEAVY,)}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    "work",
    [
        "import dctv",
        "from dctv.cli import main; main(['--help'])",
        "from dctv.cli import main; main(['query', '--help'])",
        "from dctv.cli import main; main(['--version'])",
    ],
)
def test_start_is_light(work: str) -> None:
    assert loaded(work) == "loaded:"


def test_the_report_sees_what_is_loaded() -> None:
    assert loaded("import duckdb").startswith("loaded: duckdb")
