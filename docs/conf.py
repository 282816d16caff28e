"""How Sphinx makes a site of these pages: `make docs`."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

project = "dctv"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "dctv"
html_copy_source = False
myst_heading_anchors = 4
# Pygments knows neither spans nor units; what it makes of them is good enough.
suppress_warnings = ["misc.highlighting_failure"]

_DOCS = Path(__file__).resolve().parent
_PARTS = {"tutorial": "Learn", "howto": "Get something done", "reference": "Look it up", "explanation": "Understand"}
_LINK = re.compile(r"\[([^\]]*)\]\((\.\./[^)#\s]+)(?:#[^)]*)?\)")


def setup(app: Sphinx) -> None:
    """Change what is read: pages link to the rest of the repository, and the start page has no list of all others."""
    app.connect("source-read", _read)


def _read(_app: Sphinx, name: str, source: list[str]) -> None:
    folder = (_DOCS / name).parent
    text = _LINK.sub(lambda link: _linked(link, folder), source[0])
    source[0] = text + "".join(map(_contents, _PARTS)) if name == "index" else text


def _linked(link: re.Match[str], folder: Path) -> str:
    """Return a link out of these pages as one to a copy of the file; a folder is only named."""
    target = (folder / link[2]).resolve()
    if target.is_relative_to(_DOCS) or not target.exists():
        return link[0]
    return f"[{link[1]}](<path:{link[2]}>)" if target.is_file() else link[1]


def _contents(part: str) -> str:
    """Return what the sidebar shows of a folder."""
    pages = [f"{part}/*", *([f"{part}/*/*"] if list(_DOCS.glob(f"{part}/*/*.md")) else [])]
    return "\n\n```{toctree}\n:hidden:\n:glob:\n:caption: " + "\n".join([_PARTS[part], "", *pages]) + "\n```"
