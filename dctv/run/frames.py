"""Import the packages of data frames by name, with a hint to install a missing one."""

from __future__ import annotations

from importlib import import_module

from dctv.errors import UsageError


def check_installed(package: str) -> None:
    """Check that a package of frames is installed, before rows are read.

    Raises:
        UsageError: it is not installed.
    """
    try:
        import_module(package)
    except ImportError:
        hint = f"pip install 'dctv[{package}]'"
        raise UsageError(f"this requires {package}, which is not installed", hint=hint) from None
