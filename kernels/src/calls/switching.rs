//! Order the ends of the open calls of all threads by time, for results that depend on the end of a call.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

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
    /// Those at the time of the latest call, by thread: their thread may have more to do before them.
    waiting: BTreeSet<(u32, End)>,
    began: u64,
}

impl Ends {
    pub fn add(&mut self, time: i64, thread: u32, id: i64) {
        self.began += 1;
        let began = Reverse(self.began);
        self.heap.push(Reverse(End { time, began, thread, id }));
    }

    /// The next end before a call, which has a time and a thread; any end without one. Ends at the time of the call are
    /// before it only in its thread, and unless `stays` returns that the call is inside.
    pub fn next(&mut self, call: Option<(i64, u32)>, stays: impl Fn(&End) -> bool) -> Option<End> {
        let passed = |end: &End| call.is_none_or(|(time, _)| end.time < time);
        if self.waiting.first().is_some_and(|(_, end)| passed(end)) {
            let waited = std::mem::take(&mut self.waiting);
            self.heap.extend(waited.into_iter().map(|(_, end)| Reverse(end)));
        }
        while let Some(Reverse(next)) = self.heap.peek()
            && call.is_none_or(|(time, _)| next.time <= time)
        {
            let Reverse(end) = self.heap.pop()?;
            if passed(&end) {
                return Some(end);
            }
            self.waiting.insert((end.thread, end));
        }
        let (_, thread) = call?;
        let first = End { time: i64::MIN, began: Reverse(u64::MAX), thread, id: i64::MIN };
        let own = self.waiting.range((thread, first)..).next();
        let over = *own.filter(|(own, end)| *own == thread && !stays(end))?;
        self.waiting.remove(&over);
        Some(over.1)
    }
}
