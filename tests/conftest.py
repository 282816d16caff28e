"""Make pytest collect `.test` files, leave long tests to CI, repeat examples, and end a run when its time is up."""

from __future__ import annotations

import gc
import os
import time

import pytest
from hypothesis import settings

from tests.bounds import EXPLORE, LEFT_TO_CI
from tests.page.chromium import REQUIRED, chromium, missing
from tests.sqltest import pytest_addoption, pytest_collect_file

__all__ = ["pytest_addoption", "pytest_collect_file"]

UNTIL = float(os.environ.get("DCTV_UNTIL") or "inf")
"""When no further test starts, in seconds since the epoch."""

settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
if not EXPLORE:
    settings.load_profile("repeatable")


PAGE_TESTS = "tests/page/browser/"


def pytest_configure(config: pytest.Config) -> None:
    reason = missing()
    if REQUIRED and reason is not None:
        raise pytest.UsageError(reason)
    # Plans are many small objects. With a threshold of 100,000, looking through them for garbage takes a twelfth of the
    # CPU time more; with ten million it takes no less, and 0.4 GB more memory.
    gc.set_threshold(1_000_000, 20, 20)
    config.addinivalue_line("markers", "ci: takes long, and runs in CI and `make fuzz` only, or with DCTV_CI=1")


def pytest_collection_finish() -> None:
    # Thousands of collected tests need not be looked through again.
    gc.freeze()


def pytest_report_header() -> list[str]:
    return ["left to CI: tests marked `ci`; with DCTV_CI=1 they run here"] if LEFT_TO_CI else []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say whether the tests of the page ran: where there is no browser for them, they are not collected."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, [])]
    ran = sum(report.when == "call" and report.nodeid.startswith(PAGE_TESTS) for report in reports)
    if ran:
        terminalreporter.write_line(f"tests of the page: {ran} ran in {chromium()}")
    elif (reason := missing()) is not None:
        terminalreporter.write_line(f"tests of the page: none ran: {reason}", yellow=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if LEFT_TO_CI:
        left = [item for item in items if item.get_closest_marker("ci") is not None]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item.get_closest_marker("ci") is None]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    if time.time() > UNTIL:
        item.session.shouldstop = "the time is up"
