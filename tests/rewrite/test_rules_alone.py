"""Each rule by itself leaves rows, their order and types what they are: random queries with one rule and with none."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.rewrite import rewrite
from dctv.session import Session
from tests.bounds import bounded
from tests.rewrite.test_same_rows import outcome, selections
from tests.semantics.plans import queries


@pytest.mark.parametrize("rule", rewrite.RULES, ids=lambda rule: rule.__name__)
def test_a_rule_changes_no_result(rule: object) -> None:
    with Session(threads=1) as session:

        @bounded(40)
        @given(st.data())
        def same(data: st.DataObject) -> None:
            partitions = data.draw(st.sampled_from([(), ("p",), ("p", "q")]))
            sql = data.draw(selections(data.draw(queries(partitions, 1)), partitions))
            with patch.object(rewrite, "RULES", ()):
                plain = outcome(session, sql)
            with patch.object(rewrite, "RULES", (rule,)):
                assert outcome(session, sql) == plain

        same()
