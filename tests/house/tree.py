"""The files of the project, without what was made from them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MADE = {"__pycache__", "_data", "build", "data", "dist", "node_modules", "target"}
BUILT = {".egg-info", ".so"}
SOURCES = (".py", ".pyi", ".rs", ".sql", ".lark")


def files(*suffixes: str, under: str = ".") -> Iterator[Path]:
    """Yield files by the end of their names; recorded traces and what was built are not among them."""
    top = ROOT / under
    for path in sorted(top.iterdir()):
        if path.is_symlink() or (path.name.startswith(".") and path.name != ".ci") or path.suffix in BUILT:
            continue
        if path.is_dir():
            if path.name not in MADE or path == ROOT / "dctv" / "syntax" / "build":
                yield from files(*suffixes, under=str(path.relative_to(ROOT)))
        elif not suffixes or path.suffix in suffixes:
            yield path


def short(path: Path) -> str:
    """Return a path as the project knows it."""
    return path.relative_to(ROOT).as_posix()
