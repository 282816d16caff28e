"""Find grammar, standard library, metrics, units and the parse table, in a checkout or in an installed wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_DATA = _PACKAGE / "_data"


def root() -> Path:
    """Return the folder that holds `grammar/`, `metrics/`, `stdlib/` and `units.txt`."""
    return _DATA if (_DATA / "grammar").is_dir() else _PACKAGE.parent


def generated() -> Path:
    """Return the folder that holds files built at install time."""
    return _DATA
