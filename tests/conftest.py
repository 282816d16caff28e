"""Makes pytest collect `.test` files."""

from __future__ import annotations

from tests.sqltest import pytest_addoption, pytest_collect_file

__all__ = ["pytest_addoption", "pytest_collect_file"]
