"""Load small traces of perf for tests."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from dctv.contracts.reader import LoadContext, LoadedTrace, Reader

DATA = Path(__file__).parents[2] / "data" / "perf"


def generator() -> ModuleType:
    """Return benchmarks/generate_perf.py, which no package holds."""
    path = Path(__file__).parents[3] / "benchmarks" / "generate_perf.py"
    spec = importlib.util.spec_from_file_location("generate_perf", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load(reader: Reader, path: Path) -> LoadedTrace:
    """Load one file."""
    return reader.load([path], LoadContext({}, 2, lambda _done, _total: None))


def rows(trace: LoadedTrace, table: str) -> list[dict[str, object]]:
    """Return the rows of a table without NULLs; none if the trace has no such table."""
    found = trace.tables.get(table)
    if found is None:
        return []
    return [{name: value for name, value in row.items() if value is not None} for row in found.data.to_pylist()]
