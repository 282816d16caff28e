"""The configuration files of the user and of the project -> settings of the prompt."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

from dctv.console.narration import say
from dctv.errors import DctvError, UsageError
from dctv.repl.settings import DisplaySettings, set_to

SECTION = "prompt"
PROJECT_FILE = Path("dctv.toml")
"""That of the project, in the working directory; it says no more than that of the user."""


def config_file() -> Path:
    """Return where the configuration is, whether it is there or not."""
    given = os.environ.get("DCTV_CONFIG")
    folder = os.environ.get("XDG_CONFIG_HOME") or str(Path("~/.config").expanduser())
    return Path(given) if given else Path(folder) / "dctv" / "config.toml"


def configure(settings: DisplaySettings) -> None:
    """Take over what the files say, that of the project last; what is wrong in them is told, and keeps nobody away."""
    for path in (config_file(), PROJECT_FILE):
        _take_over(settings, path)


def _take_over(settings: DisplaySettings, path: Path) -> None:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    except OSError as error:
        say(f"warning: cannot read `{path}`: {(error.strerror or str(error)).lower()}")
        return
    except ValueError as error:
        say(f"warning: `{path}` is not valid TOML: {error}")
        return
    for name, values in found.items():
        if name != SECTION or not isinstance(values, dict):
            say(f"warning: {path}: found `{name}`, expected a table [{SECTION}]")
            continue
        for key, value in values.items():
            try:
                set_to(settings, key, _text(key, value))
            except DctvError as error:
                say(f"warning: {path}: {error.message}")


def _text(key: str, value: object) -> str:
    """Return a value as it is written at the prompt."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | str):
        return str(value)
    raise UsageError(f"`{key}` is neither a text, a number nor true or false")
