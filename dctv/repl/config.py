"""Read the prompt's settings from the configuration files of the user and of the project."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

from dctv.console.narration import print_stderr
from dctv.errors import DctvError, UsageError, reason_of
from dctv.repl.settings import DisplaySettings, set_to

SECTION = "prompt"
PROJECT_FILE = Path("dctv.toml")
"""The project's file, in the working directory; it may contain the same settings as the user's."""


def config_file() -> Path:
    """Return the path of the configuration, which may not exist."""
    override = os.environ.get("DCTV_CONFIG")
    folder = os.environ.get("XDG_CONFIG_HOME") or str(Path("~/.config").expanduser())
    return Path(override) if override else Path(folder) / "dctv" / "config.toml"


def configure(settings: DisplaySettings) -> None:
    """Apply the files' settings, those of the project last; errors in them are reported, and do not stop the prompt."""
    for path in (config_file(), PROJECT_FILE):
        _take_over(settings, path)


def _take_over(settings: DisplaySettings, path: Path) -> None:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    except OSError as error:
        print_stderr(f"warning: cannot read `{path}`: {reason_of(error)}")
        return
    except ValueError as error:
        print_stderr(f"warning: `{path}` is not valid TOML: {error}")
        return
    for name, values in found.items():
        if name != SECTION or not isinstance(values, dict):
            print_stderr(f"warning: {path}: found `{name}`, expected a table [{SECTION}]")
            continue
        for key, value in values.items():
            try:
                set_to(settings, key, _text(key, value))
            except DctvError as error:
                print_stderr(f"warning: {path}: {error.message}")


def _text(key: str, value: object) -> str:
    """Return a value as it would be typed at the prompt."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | str):
        return str(value)
    raise UsageError(f"`{key}` is neither a text, a number nor true or false")
