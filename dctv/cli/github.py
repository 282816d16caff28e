"""Write errors and warnings as workflow commands, which GitHub shows beside the lines of a file."""

from __future__ import annotations

import os
from pathlib import Path

from dctv.errors import DctvError, Place
from dctv.visible import harmless


def error_command(error: DctvError) -> str:
    """Return the command for an error: its message, the excerpt, and the hint."""
    lines = [error.message, *error.found.splitlines()]
    if error.hint is not None:
        lines.append(f"hint: {error.hint}")
    return _command("error", "\n".join(lines), error.place)


def warning_command(message: str) -> str:
    """Return the command for a warning."""
    return _command("warning", message, None)


def _command(level: str, message: str, place: Place | None) -> str:
    properties = {"title": "dctv"} if place is None else {**_where(place), "title": "dctv"}
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {listed}::{_data(message)}"


def _where(place: Place) -> dict[str, str]:
    """Return the file and line of a place; only files have them."""
    name = place.source.name
    if name.startswith("<"):
        return {}
    line, column = place.source.position(place.start)
    return {"file": _in_workspace(name), "line": str(line), "col": str(column)}


def _in_workspace(name: str) -> str:
    """Return a path for GitHub: relative to the root of the checkout, if the file is in it."""
    root = Path(os.environ.get("GITHUB_WORKSPACE") or ".").resolve()
    path = Path(name).resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else name


def _data(text: str) -> str:
    return harmless(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
