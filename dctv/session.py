"""The door: mount traces, run statements, get results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import dctv.functions.aggregate
import dctv.functions.scalar
import dctv.functions.span
import dctv.functions.table
import dctv.readers
from dctv.bind.binder import Binder
from dctv.bind.context import Environment
from dctv.catalog.mount import Mount, attach, check_name
from dctv.catalog.namespace import Catalog, View
from dctv.contracts.function_rule import FunctionRule
from dctv.contracts.reader import LoadContext, Reader
from dctv.contracts.shelf import scan
from dctv.contracts.span_operator import SpanOperator
from dctv.contracts.table_function import TableFunction
from dctv.errors import AssertionFailed, BindError, DctvError, Interrupted, Source, UsageError, WarningLog
from dctv.functions.table.generate_sequential_spans import quantize
from dctv.plan.explain import explain
from dctv.plan.nodes import Plan, Relation
from dctv.run.regions import cut
from dctv.run.result import Asserted, Done, Outcome, Result
from dctv.run.stream import Runner, in_final_order
from dctv.run.tables import of_rows
from dctv.statements import Statements
from dctv.syntax import ast
from dctv.syntax.parse import parse
from dctv.types.schema import Schema
