"""Limits of memory that cannot be kept are refused in dctv's own words, and running out of it says what to do."""

from __future__ import annotations

from typing import Any, cast

import pytest

from dctv import Session
from dctv.errors import BindError, EngineError, UsageError


def test_a_limit_that_no_query_could_keep() -> None:
    with Session(memory_limit="1KB") as session, pytest.raises(UsageError) as caught:
        session.sql("SELECT 1").fetchall()
    assert caught.value.message == "a memory limit of `1KB` is too small, expected at least 8MB"


def test_a_limit_that_is_set_too_small_changes_nothing() -> None:
    with Session() as session:
        with pytest.raises(BindError, match="a memory limit of `1KB` is too small"):
            session.sql("SET memory_limit = '1KB'")
        assert session.sql("SELECT COUNT(*) FROM range(1000000)").fetchall() == [(1_000_000,)]


def test_running_out_of_memory_names_our_own_settings() -> None:
    with Session(memory_limit="12MB", threads=4) as session, pytest.raises(EngineError) as caught:
        # A list is one value: there is nothing to spill, so it fails at once.
        session.sql("SELECT list(range) FROM range(3000000)").fetchall()
    assert "Possible solutions" not in caught.value.message
    assert "preserve_insertion_order" not in caught.value.message
    assert "--memory-limit" in (caught.value.hint or "")


def test_arguments_that_mean_nothing() -> None:
    with pytest.raises(UsageError, match=r"found `index='never'`, expected True, False or 'auto'"):
        Session(index=cast("Any", "never"))
    with Session(threads=0) as session, pytest.raises(UsageError, match="must have at least 1 thread"):
        session.sql("SELECT 1").fetchall()
