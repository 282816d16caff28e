"""Replace the parts of a plan that another engine can run by sources of its rows."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.contracts.remote import Remote
from dctv.errors import NotOnThisEngine
from dctv.plan.build import STAR, by_names, select
from dctv.plan.carrying import carried_schema, with_types
from dctv.plan.nodes import Kernel, Plan, Relation, Scan, ranked_names
from dctv.plan.order import RowOrder
from dctv.plan.source import SpreadSource
from dctv.record import field, record, replace
from dctv.rewrite.graph import inputs, readers_first, with_inputs
from dctv.run.context import ExecutionContext
from dctv.run.remote.operators import columns_of, orderless, sweep_of
from dctv.run.remote.orders import check_limits, meets_order, unnumbered
from dctv.run.remote.source import RemoteRows, types_here
from dctv.signatures.carried import is_restored
from dctv.signatures.types import parse

_STRICT = "SET strict_engine = false lets dctv carry it out here"


def placed(plan: Plan, remote: Remote, context: ExecutionContext) -> Plan:
    """Return a plan that runs as much as possible on another engine.

    Other parts run locally, over fetched rows; each such part causes a warning.

    Raises:
        NotOnThisEngine: there is such a part, and `strict_engine` is set.
    """
    placing = _Placing(remote, context)
    return placing.place(plan, exact=False)


@record(frozen=False)
class _Placing:
    """Facts on the parts of a plan, by identity."""

    remote: Remote
    context: ExecutionContext
    refusals: dict[int, NotOnThisEngine | None] = field(default_factory=dict)
    """Why the engine cannot carry a part out, None if it can."""
    worth: dict[int, bool] = field(default_factory=dict)
    """Whether a part reads anything that the engine reads itself or is handed anyway."""
    sources: dict[int, RemoteRows] = field(default_factory=dict)
    """The sources of the parts that the engine runs."""
    done: dict[tuple[int, bool], Plan] = field(default_factory=dict)
    warned: set[int] = field(default_factory=set)
    kept: list[Plan] = field(default_factory=list)
    """Plans whose identities are known."""

    def place(self, plan: Plan, *, exact: bool) -> Plan:
        """Return a plan to be carried out here; `exact` if its reader depends on the order in which its rows come."""
        key = (id(plan), exact)
        if key not in self.done:
            self.kept.append(plan)
            self.done[key] = self._placed(plan, exact=exact)
        return self.done[key]

    def _placed(self, plan: Plan, *, exact: bool) -> Plan:
        if isinstance(plan, Scan):
            return plan
        if not exact and self._refusal(plan) is None and self._is_worth(plan):
            try:
                return self._elsewhere(plan)
            except NotOnThisEngine as lost:
                self.refusals[id(plan)] = lost
        refusal = self._refusal(plan)
        needs = exact or _meets_order(plan)
        made = [self.place(one, exact=needs and one.stable) for one in inputs(plan)]
        self._tell(plan, refusal, [self.sources[id(one)] for one in inputs(plan) if id(one) in self.sources])
        return with_inputs(plan, tuple(made))

    def _refusal(self, plan: Plan) -> NotOnThisEngine | None:
        if id(plan) not in self.refusals:
            self.kept.append(plan)
            self.refusals[id(plan)] = None
            try:
                self._check(plan)
            except NotOnThisEngine as refusal:
                self.refusals[id(plan)] = refusal
        return self.refusals[id(plan)]

    def _check(self, plan: Plan) -> None:
        match plan:
            case Scan():
                self.remote.check_columns(columns_of(plan))
            case Relation():
                for _, leaf in plan.leaves:
                    self.remote.check_columns(columns_of(leaf))
                self.remote.check_columns(columns_of(plan))
                query = unnumbered(plan.query)
                check_limits(query)
                self.remote.check(query, {name: columns_of(leaf) for name, leaf in plan.leaves})
                self._check_way_back(plan)
            case Kernel():
                for one in (plan, *plan.inputs):
                    self.remote.check_columns(columns_of(one))
                sweep_of(plan, lambda schema: types_here(schema, self.context))
                self.remote.check_sweeps()

    def _check_way_back(self, plan: Plan) -> None:
        """See whether rows of a part can come here, through Arrow."""
        for one in plan.schema.columns:
            if not is_restored(parse(one.type)):
                raise NotOnThisEngine(f"the type `{one.type}` is not on Spark: its values do not come back from there")
        there = with_types(plan, carried_schema(plan.schema))
        if there is not plan and isinstance(there, Relation):
            self.remote.check(there.query, {name: columns_of(leaf) for name, leaf in there.leaves})

    def _is_worth(self, plan: Plan) -> bool:
        """Whether a part runs on the engine: one whose rows are all made here stays here."""
        if id(plan) not in self.worth:
            read = inputs(plan)
            self.worth[id(plan)] = (
                not isinstance(plan.source, SpreadSource)
                if isinstance(plan, Scan)
                else not read or any(self._refusal(one) is None and self._is_worth(one) for one in read)
            )
        return self.worth[id(plan)]

    def _elsewhere(self, plan: Plan) -> Plan:
        """Return a part as the rows that the engine gives."""
        here: set[int] = set()
        carried = carried_schema(plan.schema)
        within = with_types(self._within(plan, here, {}), carried)
        source = RemoteRows(self.context, self.remote, within, frozenset(here))
        rows = Scan(carried, plan.order if source.is_sorted else RowOrder.ANY, "elsewhere", source)
        self.sources[id(plan)] = source
        made = with_types(rows, plan.schema)
        if not plan.ordered or made.ordered:
            return made
        query = replace(select(STAR, source="fetched"), order_by=by_names(ranked_names(plan.schema)))
        return Relation(plan.schema, RowOrder.TIME, query, (("fetched", made),))

    def _within(self, plan: Plan, here: set[int], made: dict[int, Plan]) -> Plan:
        """Return a part for the remote engine, with the tables that this process uploads."""
        if id(plan) not in made:
            if self._refusal(plan) is None and self._is_worth(plan):
                new = with_inputs(plan, tuple(self._within(one, here, made) for one in inputs(plan)))
                if isinstance(new, Relation):
                    query = unnumbered(new.query)
                    new = new if query is new.query else replace(new, query=query)
            else:
                new = self.place(plan, exact=False)
                here.add(id(new))
            self.kept.append(new)
            made[id(plan)] = new
        return made[id(plan)]

    def _tell(self, plan: Plan, refusal: NotOnThisEngine | None, fetched: Sequence[RemoteRows]) -> None:
        """Warn that a part runs here that the engine should run."""
        if refusal is None or id(plan) in self.warned or not any(map(_is_stored, readers_first(plan))):
            return
        self.warned.add(id(plan))
        if self.context.settings.strict_engine:
            raise NotOnThisEngine(refusal.message, hint=_STRICT)
        if not fetched:
            self.context.log.add(f"{refusal.message}; it runs here, over rows that are read here")
        for source in fetched:
            source.reasons.append(refusal.message)


def _is_stored(plan: Plan) -> bool:
    return isinstance(plan, Scan) and not isinstance(plan.source, SpreadSource)


def _meets_order(plan: Plan) -> bool:
    match plan:
        case Relation():
            return meets_order(plan)
        case Kernel():
            return not orderless(plan)
        case _:
            return False
