"""The files of the built page."""

from __future__ import annotations

from pathlib import Path

from dctv import resources

MISSING = "the page was not built when dctv was installed"
WAY_OUT = "with node 20 or later, or where PyPI and npm can be reached, install dctv again: `pip install 'dctv[ui]'`"
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".svg": "image/svg+xml",
}


def folder() -> Path:
    """Return the folder of the page, if it was built."""
    return resources.generated() / "page"


def is_built() -> bool:
    """Whether the page was built."""
    return (folder() / "index.html").is_file()


def read(name: str) -> tuple[bytes, str] | None:
    """Return a file of the page and its content type; None if there is none of this name."""
    there = {path.relative_to(folder()).as_posix(): path for path in folder().rglob("*") if path.is_file()}
    path = there.get(name)
    if path is None or path.suffix not in _KINDS:
        return None
    return path.read_bytes(), _KINDS[path.suffix]
