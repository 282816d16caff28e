"""What starting loads: help and `import dctv` must not wait for engines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT

HEAVY = (
    *("duckdb", "google.protobuf", "lark", "numpy", "pandas", "perfetto", "pint", "polars", "prompt_toolkit"),
    *("pyarrow", "rich", "scipy", "sqlglot"),
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
        "import dctv; dir(dctv); dctv.BindError",
        "from dctv.cli import main; main(['--help'])",
        "from dctv.cli import main; main(['query', '--help'])",
        "from dctv.cli import main; main(['compare', '--help'])",
        "from dctv.cli import main; main(['--version'])",
    ],
)
def test_start_is_light(work: str) -> None:
    assert loaded(work) == "loaded:"


def test_the_report_lists_loaded_modules() -> None:
    assert loaded("import duckdb").startswith("loaded: duckdb")


@pytest.mark.parametrize("wanted", [None, "3"])
def test_numpy_has_one_thread_unless_the_user_wants_more(wanted: str | None) -> None:
    program = (
        "import os, sys; sys.argv = ['dctv', 'query', 'SELECT 1']; from dctv.cli import process\n"
        "os._exit = lambda _: print(os.environ['OPENBLAS_NUM_THREADS'])\nprocess()"
    )
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    if wanted is not None:
        environment["OPENBLAS_NUM_THREADS"] = wanted
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=True, env=environment)
    assert done.stdout.splitlines()[-1] == (wanted or "1")


def test_indexing_loads_only_needed_modules(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text('[{"name": "a", "ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]')
    words = ["index", str(trace), "--index-dir", str(tmp_path / "index")]
    work = f"sys.argv = ['dctv', *{words!r}]; from dctv.cli import main; assert main() == 0"
    program = f"import sys; before = set(sys.modules); {work}; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    found = set(done.stdout.splitlines()[-1].split())
    assert {"dctv.index.full_build", "dctv.readers.chrome_json"} <= found
    # Readers are asked in order: those behind the one that knows the trace are not loaded.
    behind = {"dctv.readers.ctf", "dctv.readers.perfetto", "dctv.readers.uftrace"}
    others = {"dctv.index.cache", "dctv.index.check", "dctv.index.history_notes", "dctv.readers.chrome_zipped"}
    assert not found & {*HEAVY, *behind, *others, "dctv.readers.plain_files.tables", "dctv.session"}
