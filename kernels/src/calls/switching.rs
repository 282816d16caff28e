//! Order the ends of the open calls of all threads by time, for results that depend on the end of a call.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The end of a call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct End {
    pub time: i64,
    /// Among calls that end at the same time, the one that began last ends first.
    began: Reverse<u64>,
    pub thread: u32,
    pub id: i64,
}

/// The future ends.
#[derive(Default)]
pub struct Ends {
    heap: BinaryHeap<Reverse<End>>,
    began: u64,
}

impl Ends {
    pub fn add(&mut self, time: i64, thread: u32, id: i64) {
        self.began += 1;
        let began = Reverse(self.began);
        self.heap.push(Reverse(End { time, began, thread, id }));
    }

    /// The next end before a time, or at it unless `stays` returns that the call is open beyond it; all ends without a
    /// time.
    pub fn next(&mut self, time: Option<i64>, stays: impl Fn(&End) -> bool) -> Option<End> {
        let Reverse(next) = self.heap.peek()?;
        let due = time.is_none_or(|time| next.time < time || next.time == time && !stays(next));
        due.then(|| self.heap.pop()).flatten().map(|Reverse(end)| end)
    }
}
