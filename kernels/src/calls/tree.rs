//! Build a call tree, summed over all threads, from shown calls and events in time order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::columns::Columns;
use super::replay::{EVENT, UNTIMED};
use crate::exchange::InputBatch;
use crate::sweeps::{fail, to_python};

/// Columns after those of `Replay`.
const SELF: usize = 18;

/// Minimum and maximum.
type Range = Option<(i64, i64)>;

/// Calls of a function by the same path.
struct Node {
    above: Option<u32>,
    name: Option<u32>,
    address: Option<i64>,
    calls: u64,
    total: i64,
    own: i64,
    totals: Range,
    owns: Range,
    /// The remainders of the durations of calls within, divided by each of the sample times.
    rests: Vec<i64>,
}

/// A call that may have callees.
struct Open {
    node: Option<u32>,
    session: u32,
    duration: Option<i64>,
    /// Otherwise it is only a parent of others.
    counts: bool,
    /// Its end was recorded, its start was not.
    untimed: bool,
    /// As measured by the recorder.
    own: Option<i64>,
    inner: i64,
    /// The number of its path to a function, if its duration is part of that.
    way: Option<usize>,
    above: Option<i64>,
}

/// A path to a function.
struct Way {
    session: u32,
    stack: Option<Box<str>>,
    hits: u64,
    time: i64,
}

/// The kind of tree.
#[derive(FromPyObject)]
struct Wanted {
    /// Only the callees of this function.
    function: Option<String>,
    sample_times: Vec<i64>,
    /// Threads, and the sessions they belong to from which time on.
    sessions: Vec<(i64, Vec<(i64, u32)>)>,
}

/// One thread's sessions by their starts.
type Sessions = Vec<(i64, u32)>;

#[derive(Default)]
struct Trees {
    function: Option<String>,
    sample_times: Vec<i64>,
    sessions: FxHashMap<i64, Sessions>,
    names: FxHashMap<Box<str>, u32>,
    spelled: Vec<Box<str>>,
    nodes: Vec<Node>,
    /// By the parent node and the name.
    places: FxHashMap<(u32, u32), u32>,
    /// By session.
    roots: FxHashMap<u32, u32>,
    open: FxHashMap<i64, Open>,
    /// Among calls that end at the same time, a callee ends before its caller.
    ends: BinaryHeap<Reverse<(i64, Reverse<i64>)>>,
    ways: Vec<Way>,
    known_ways: FxHashMap<(u32, Option<Box<str>>), usize>,
    first: Option<i64>,
    last: Option<i64>,
}

/// Calls of a function by the same path, for Python.
#[pyclass(frozen, get_all, module = "dctv._kernels")]
pub struct TreeNode {
    /// The place of the parent node; None for a root.
    above: Option<u32>,
    name: Option<String>,
    address: Option<i64>,
    calls: u64,
    total: i64,
    own: i64,
    /// The shortest and the longest duration.
    totals: Range,
    owns: Range,
    /// The remainders of durations within, divided by each sample time.
    rests: Vec<i64>,
    /// The session of a root.
    session: Option<u32>,
}

/// A path to a function.
#[pyclass(frozen, get_all, module = "dctv._kernels")]
pub struct TreePath {
    session: u32,
    /// The callers, one per line.
    stack: Option<String>,
    hits: u64,
    time: i64,
}

fn widened(range: &mut Range, value: i64) {
    *range = Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
}

impl Trees {
    fn new(wanted: Wanted) -> Trees {
        Trees {
            function: wanted.function,
            sample_times: wanted.sample_times,
            sessions: wanted.sessions.into_iter().collect(),
            ..Trees::default()
        }
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let columns = Columns(batch.columns());
        for row in 0..batch.num_rows() {
            let (Some(time), Some(id)) = (columns.long(0, row), columns.long(2, row)) else {
                return Err(fail("a call has no time or number"));
            };
            // A call that ends now may still have a callee without duration.
            self.leave(Some(time));
            self.enter(&columns, row, time, id)?;
        }
        Ok(())
    }

    fn session(&self, tid: i64, time: i64) -> u32 {
        let Some(sessions) = self.sessions.get(&tid) else {
            return 0;
        };
        let after = sessions.partition_point(|(from, _)| *from <= time);
        let found = sessions.get(after.saturating_sub(1));
        found.map_or(0, |(_, session)| *session)
    }

    fn enter(&mut self, columns: &Columns, row: usize, time: i64, id: i64) -> Result<(), ArrowError> {
        let kind = columns.long(17, row);
        let above = columns.long(16, row);
        let is_event = kind == Some(EVENT);
        let duration = columns.long(8, row);
        let session = self.session(columns.long(1, row).unwrap_or(0), time);
        let inside = above.and_then(|id| self.open.get(&id));
        let inside = inside.filter(|one| one.session == session);
        if is_event && (duration.is_none() || inside.is_none()) {
            return Ok(());
        }
        let counts = is_event || columns.marks(4, row) != 0 && kind != Some(UNTIMED);
        let name = columns.text(9, row).unwrap_or_default();
        let mut way = None;
        let node = if let Some(above) = inside.and_then(|one| one.node) {
            Some(self.node(above, name)?)
        } else if self.function.is_none() {
            let root = self.root(session)?;
            Some(self.node(root, name)?)
        } else if self.function.as_deref() == Some(name) {
            way = counts.then(|| self.way(session, columns.text(7, row)));
            Some(self.root(session)?)
        } else {
            None
        };
        if counts && let Some(node) = node.and_then(|at| self.nodes.get_mut(at as usize)) {
            node.calls += 1;
            node.address = node.address.or(columns.long(13, row));
        }
        let call = Open {
            node,
            session,
            duration,
            counts,
            untimed: kind == Some(UNTIMED),
            own: columns.long(SELF, row),
            inner: 0,
            way,
            above,
        };
        let end = time.saturating_add(duration.unwrap_or(0));
        self.first = self.first.or(Some(time));
        self.last = Some(self.last.map_or(end, |last| last.max(end)));
        if is_event {
            self.ended(&call);
            return Ok(());
        }
        if duration.is_some() {
            self.ends.push(Reverse((end, Reverse(id))));
        }
        self.open.insert(id, call);
        Ok(())
    }

    fn root(&mut self, session: u32) -> Result<u32, ArrowError> {
        if let Some(found) = self.roots.get(&session) {
            return Ok(*found);
        }
        let made = self.add(None, None)?;
        self.roots.insert(session, made);
        Ok(made)
    }

    fn node(&mut self, above: u32, name: &str) -> Result<u32, ArrowError> {
        let name = match self.names.get(name) {
            Some(known) => *known,
            None => {
                let number =
                    u32::try_from(self.spelled.len()).map_err(|_| fail("more functions than can be numbered"))?;
                self.names.insert(name.into(), number);
                self.spelled.push(name.into());
                number
            }
        };
        if let Some(found) = self.places.get(&(above, name)) {
            return Ok(*found);
        }
        let made = self.add(Some(above), Some(name))?;
        self.places.insert((above, name), made);
        Ok(made)
    }

    fn add(&mut self, above: Option<u32>, name: Option<u32>) -> Result<u32, ArrowError> {
        let number = u32::try_from(self.nodes.len()).map_err(|_| fail("more paths than can be numbered"))?;
        self.nodes.push(Node {
            above,
            name,
            address: None,
            calls: 0,
            total: 0,
            own: 0,
            totals: None,
            owns: None,
            rests: vec![0; self.sample_times.len()],
        });
        Ok(number)
    }

    fn way(&mut self, session: u32, stack: Option<&str>) -> usize {
        let stack: Option<Box<str>> = stack.map(Box::from);
        let number = *self.known_ways.entry((session, stack.clone())).or_insert_with(|| {
            self.ways.push(Way { session, stack, hits: 0, time: 0 });
            self.ways.len() - 1
        });
        if let Some(way) = self.ways.get_mut(number) {
            way.hits += 1;
        }
        number
    }

    /// Add the calls that were over before a time; all without one.
    fn leave(&mut self, time: Option<i64>) {
        while let Some(Reverse((end, Reverse(id)))) = self.ends.peek().copied() {
            if time.is_some_and(|time| end >= time) {
                return;
            }
            self.ends.pop();
            if let Some(call) = self.open.remove(&id) {
                self.ended(&call);
            }
        }
    }

    fn ended(&mut self, call: &Open) {
        let Some(duration) = call.duration else {
            return;
        };
        // Of a call that began elsewhere, only the part recorded here is known.
        let duration = match (call.counts, call.untimed) {
            (true, _) => duration,
            (false, true) => call.inner,
            (false, false) => return,
        };
        if let Some(above) = call.above.and_then(|id| self.open.get_mut(&id)) {
            above.inner = above.inner.saturating_add(duration);
        }
        if let Some(way) = call.way.and_then(|number| self.ways.get_mut(number)) {
            way.time = way.time.saturating_add(duration);
        }
        let Some(node) = call.node.and_then(|at| self.nodes.get_mut(at as usize)) else {
            return;
        };
        let own = call.own.filter(|_| call.counts);
        let own = own.unwrap_or(duration.saturating_sub(call.inner)).max(0);
        node.total = node.total.saturating_add(duration);
        node.own = node.own.saturating_add(own);
        if call.counts {
            widened(&mut node.totals, duration);
            widened(&mut node.owns, own);
        }
        let above = node.above;
        if let Some(above) = above.and_then(|at| self.nodes.get_mut(at as usize)) {
            for (rest, sample) in above.rests.iter_mut().zip(&self.sample_times) {
                *rest = rest.saturating_add(duration.checked_rem(*sample).unwrap_or(0));
            }
        }
    }

    fn rows(&mut self) -> Vec<TreeNode> {
        let sessions: FxHashMap<u32, u32> = self.roots.iter().map(|(session, at)| (*at, *session)).collect();
        let spelled = |name: u32| self.spelled.get(name as usize).map(ToString::to_string);
        let nodes = self.nodes.drain(..).enumerate();
        nodes
            .map(|(at, one)| TreeNode {
                above: one.above,
                name: one.name.and_then(spelled),
                address: one.address,
                calls: one.calls,
                total: one.total,
                own: one.own,
                totals: one.totals,
                owns: one.owns,
                rests: one.rests,
                session: u32::try_from(at).ok().and_then(|at| sessions.get(&at).copied()),
            })
            .collect()
    }
}

/// Sums shown calls into a tree, batch by batch.
#[pyclass(module = "dctv._kernels")]
pub struct CallTree(Trees);

#[pymethods]
impl CallTree {
    #[new]
    fn new(wanted: Wanted) -> Self {
        Self(Trees::new(wanted))
    }

    /// Add the calls of a batch.
    fn push(&mut self, py: Python, batch: InputBatch) -> PyResult<()> {
        let batch = batch.0;
        py.detach(|| self.0.batch(&batch)).map_err(to_python)
    }

    /// Return nodes, each after its parent; paths to the function; the time from the first call's start to the last's
    /// end.
    fn finish(&mut self, py: Python) -> (Vec<TreeNode>, Vec<TreePath>, i64) {
        let trees = &mut self.0;
        py.detach(|| {
            trees.leave(None);
            let ways = trees.ways.drain(..).map(|one| TreePath {
                session: one.session,
                stack: one.stack.map(String::from),
                hits: one.hits,
                time: one.time,
            });
            let ways = ways.collect();
            let lasted = trees.last.unwrap_or(0).saturating_sub(trees.first.unwrap_or(0));
            (trees.rows(), ways, lasted)
        })
    }
}
