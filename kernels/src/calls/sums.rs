//! Sum shown calls, in time order, by function and by thread, in one pass.

use std::sync::Arc;

use pyo3::prelude::*;
use rustc_hash::FxHashMap;

/// A call to add.
pub struct Added {
    pub thread: u32,
    pub id: i64,
    pub above: Option<i64>,
    pub start: i64,
    pub length: Option<i64>,
    /// Its self time, if that was measured.
    pub own: Option<i64>,
    pub group: u32,
    pub outermost: bool,
}

/// Sums of the times of a function.
#[derive(Clone, Copy, Default)]
#[pyclass(skip_from_py_object, frozen, get_all, module = "dctv._kernels")]
pub struct TimeSums {
    count: u64,
    sum: i128,
    least: i64,
    most: i64,
    squares: u128,
}

impl TimeSums {
    #[inline]
    fn add(&mut self, time: Option<i64>) {
        let Some(time) = time else {
            return;
        };
        let first = self.count == 0;
        self.count += 1;
        self.sum += i128::from(time);
        self.least = if first { time } else { self.least.min(time) };
        self.most = if first { time } else { self.most.max(time) };
        let size = u128::from(time.unsigned_abs());
        self.squares = self.squares.saturating_add(size * size);
    }
}

/// Sums of the calls of a function.
#[derive(Clone, Default)]
pub struct Group {
    /// None means an unknown function.
    pub name: Option<Arc<str>>,
    pub calls: u64,
    pub size: Option<i64>,
    /// Of calls that are not nested in another one of the same function.
    pub total: i128,
    pub lengths: TimeSums,
    pub own: TimeSums,
}

/// Sums of the calls of a thread.
#[derive(Clone, Default)]
pub struct OfThread {
    pub calls: u64,
    pub total: i128,
    pub own: i128,
    open: Vec<Open>,
    /// The number of open calls of each function.
    within: Vec<u32>,
}

#[derive(Clone)]
struct Open {
    id: i64,
    group: u32,
    start: i64,
    end: Option<i64>,
    /// The end of the nested calls subtracted so far.
    covered: i64,
    own: Option<i64>,
}

/// Sums calls; calls that are over take no memory.
pub struct Sums {
    /// Whether self times are those measured by the recorder; otherwise they are computed from the calls.
    pub measured: bool,
    names: FxHashMap<Option<Arc<str>>, u32>,
    pub groups: Vec<Group>,
    pub threads: Vec<OfThread>,
}

impl Sums {
    pub fn new(measured: bool) -> Self {
        Self { measured, names: FxHashMap::default(), groups: Vec::new(), threads: Vec::new() }
    }

    /// The number of the group of a name.
    pub fn group(&mut self, name: Option<Arc<str>>) -> u32 {
        let fresh = self.groups.len() as u32;
        let number = *self.names.entry(name.clone()).or_insert(fresh);
        if number == fresh {
            self.groups.push(Group { name, ..Group::default() });
        }
        number
    }

    /// Raises the size of a group to that of one of its functions.
    pub fn sized(&mut self, group: u32, size: Option<i64>) {
        if let Some(group) = self.groups.get_mut(group as usize) {
            group.size = group.size.max(size);
        }
    }

    /// Add a call, after its caller.
    #[inline]
    pub fn add(&mut self, call: &Added) {
        let number = call.thread as usize;
        if self.threads.len() <= number {
            self.threads.resize_with(number + 1, OfThread::default);
        }
        let place = call.above.and_then(|above| {
            let open = self.threads.get(number)?.open.iter();
            open.clone().rposition(|one| one.id == above)
        });
        self.close(number, place.map_or(0, |place| place + 1));
        let (Some(thread), Some(group)) = (self.threads.get_mut(number), self.groups.get_mut(call.group as usize))
        else {
            return;
        };
        thread.calls += 1;
        let length = i128::from(call.length.unwrap_or(0));
        if call.outermost {
            thread.total += length;
        }
        if thread.within.len() <= call.group as usize {
            thread.within.resize(call.group as usize + 1, 0);
        }
        if let Some(within) = thread.within.get_mut(call.group as usize) {
            if *within == 0 {
                group.total += length;
            }
            *within += 1;
        }
        group.calls += 1;
        group.lengths.add(call.length);
        let end = call.length.map(|length| call.start.saturating_add(length));
        let own = if self.measured { call.own } else { call.length };
        if self.measured {
            group.own.add(own);
            thread.own += i128::from(own.unwrap_or(0));
        } else if let Some(above) = thread.open.last_mut() {
            above.cover(call.start, end);
        }
        thread.open.push(Open { id: call.id, group: call.group, start: call.start, end, covered: i64::MIN, own });
    }

    /// Remove the calls from a place on from a thread's stack.
    #[inline]
    fn close(&mut self, thread: usize, first: usize) {
        let Some(thread) = self.threads.get_mut(thread) else {
            return;
        };
        while thread.open.len() > first
            && let Some(call) = thread.open.pop()
        {
            if let Some(within) = thread.within.get_mut(call.group as usize) {
                *within = within.saturating_sub(1);
            }
            if !self.measured
                && let Some(group) = self.groups.get_mut(call.group as usize)
            {
                group.own.add(call.own);
                thread.own += i128::from(call.own.unwrap_or(0));
            }
        }
    }

    /// Add the open calls.
    pub fn finish(&mut self) {
        for thread in 0..self.threads.len() {
            self.close(thread, 0);
        }
    }
}

impl Open {
    /// Subtracts the time of a nested call; overlaps of two of them count once.
    #[inline]
    fn cover(&mut self, start: i64, end: Option<i64>) {
        let (Some(last), Some(own)) = (self.end, &mut self.own) else {
            return;
        };
        let end = end.map_or(last, |end| end.min(last));
        let start = start.max(self.covered).max(self.start);
        *own = own.saturating_sub(end.saturating_sub(start).max(0));
        self.covered = end.max(self.covered);
    }
}
