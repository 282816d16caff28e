"""Makes pytest collect `.test` files, property tests repeat their examples, and a run end when its time is up."""

from __future__ import annotations

import os
import time

import pytest
from hypothesis import settings

from tests.bounds import EXPLORE
from tests.sqltest import pytest_addoption, pytest_collect_file

__all__ = ["pytest_addoption", "pytest_collect_file"]

UNTIL = float(os.environ.get("DCTV_UNTIL") or "inf")
"""When no further test starts, in seconds since the epoch."""

settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
if not EXPLORE:
    settings.load_profile("repeatable")


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    if time.time() > UNTIL:
        item.session.shouldstop = "the time is up"
