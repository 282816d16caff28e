"""How Sphinx makes a site of these pages: `make docs`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from sphinx.application import Sphinx

from docs.colours import ConsoleLexer, SqlLexer

project = "dctv"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "dctv"
html_copy_source = False
myst_heading_anchors = 4
exclude_patterns = ["**/__pycache__"]

_DOCS = Path(__file__).resolve().parent
_PARTS = {"tutorial": "Learn", "howto": "Get something done", "reference": "Look it up", "explanation": "Understand"}
_HEADING = re.compile(r"^# (?:How to )?(.*)$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\((\.\./[^)#\s]+)(?:#[^)]*)?\)")


def setup(app: Sphinx) -> None:
    """Change what is read: pages link to the rest of the repository, and no page lists all others."""
    app.connect("source-read", _read)
    app.add_lexer("sql", SqlLexer)
    app.add_lexer("console", ConsoleLexer)


def _read(_app: Sphinx, name: str, source: list[str]) -> None:
    folder = (_DOCS / name).parent
    text = _LINK.sub(lambda link: _linked(link, folder), source[0])
    if name == "index":
        text += "".join(_contents(caption, sorted(_DOCS.glob(f"{part}/*.md"))) for part, caption in _PARTS.items())
    elif (_DOCS / name).is_dir():
        text += _contents("", sorted((_DOCS / name).glob("*.md")), folder)
    source[0] = text


def _linked(link: re.Match[str], folder: Path) -> str:
    """Return a link out of these pages as one to a copy of the file; a folder is only named."""
    target = (folder / link[2]).resolve()
    if target.is_relative_to(_DOCS) or not target.exists():
        return link[0]
    return f"[{link[1]}](<path:{link[2]}>)" if target.is_file() else link[1]


def _contents(caption: str, pages: Sequence[Path], folder: Path = _DOCS) -> str:
    """Return what the sidebar shows below a caption, or below the page of a folder: pages by their titles."""
    titles = [(_title(page), page.relative_to(folder).with_suffix("").as_posix()) for page in pages]
    titles.sort(key=lambda one: one[0].casefold())
    entries = [f"{title} <{name}>" for title, name in titles]
    options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
    return "\n".join(["\n\n```{toctree}", *options, "", *entries, "```"])


def _title(page: Path) -> str:
    """Return the title of a page, of which the caption above it says the beginning."""
    heading = _HEADING.search(page.read_text(encoding="utf-8"))
    title = page.stem if heading is None else heading[1]
    return title[0].upper() + title[1:]
