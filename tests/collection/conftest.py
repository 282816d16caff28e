"""Print the status of Perfetto's diff tests after a run that had them."""

from __future__ import annotations

import pytest

from tests.collection.perfetto_diff.status import by_area


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    ran = (report for kind in ("passed", "failed") for report in terminalreporter.getreports(kind))
    if any("test_perfetto_diff.py" in report.nodeid for report in ran):
        terminalreporter.section("Perfetto's diff tests")
        terminalreporter.write(by_area())
