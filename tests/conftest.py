"""Makes pytest collect `.test` files, and property tests try the same examples in every run.

A run that must pass is no place to explore: `DCTV_EXPLORE=1 make test` draws new examples.
"""

from __future__ import annotations

import os

from hypothesis import settings

from tests.sqltest import pytest_addoption, pytest_collect_file

__all__ = ["pytest_addoption", "pytest_collect_file"]

settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
if not os.environ.get("DCTV_EXPLORE"):
    settings.load_profile("repeatable")
