"""Import the packages of data frames by name, with a hint to install a missing one."""

from __future__ import annotations

from importlib import import_module

from dctv.errors import UsageError


def check_installed(package: str) -> None:
    """Refuse to make frames of a package that is not there, before rows are read for one.

    Raises:
        UsageError: it is not installed.
    """
    try:
        import_module(package)
    except ImportError:
        hint = f"pip install 'dctv[{package}]'"
        raise UsageError(f"this requires {package}, which is not installed", hint=hint) from None
