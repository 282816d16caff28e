"""One server for each trace and one browser for each worker; without a Chromium its tests are not collected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.page.chromium import missing
from tests.page.served import Served, served

collect_ignore = ["browser"] if missing() else []


@pytest.fixture(scope="session")
def server_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path], Served]]:
    """Serve traces, each as `t`, for tests that change nothing of them."""
    running: dict[Path, Served] = {}
    with ExitStack() as stack:

        def of(trace: Path) -> Served:
            if trace not in running:
                home = tmp_path_factory.mktemp("served")
                running[trace] = stack.enter_context(served(home, f"t={trace}"))
                running[trace].wait()
            return running[trace]

        yield of
