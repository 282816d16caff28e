//! A lane as it looks from afar: spans that last a step or longer, and one cell a step for the others.

use super::lane::{Lane, Worth};

/// What is looked at: rows that touch a range of times, and what shorter ones are not told apart in.
#[derive(Clone, Copy)]
pub struct Window {
    pub from: i64,
    pub to: i64,
    /// More than 0.
    pub step: i64,
}

impl Window {
    /// Return when the step of a time begins.
    pub fn start(&self, time: i64) -> i64 {
        let start = time.div_euclid(self.step).checked_mul(self.step);
        start.unwrap_or(i64::MIN)
    }

    /// Return when the step after that of a time begins, if that is a time.
    pub fn next(&self, time: i64) -> Option<i64> {
        let number = time.div_euclid(self.step).checked_add(1)?;
        number.checked_mul(self.step)
    }
}

/// Rows of a lane that are drawn as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub begin: i64,
    pub end: i64,
    pub first: usize,
    /// The row behind the last one.
    pub behind: usize,
}

impl<W: Worth> Lane<W> {
    /// Return the cells of a window, in order of time.
    ///
    /// What they come to is looked up when all are known, so that the memory of several is fetched at once.
    pub fn cells(&self, window: Window) -> Vec<Cell> {
        let times = self.times();
        let mut cells = Vec::new();
        let mut emit = |first: usize, behind: usize| {
            cells.push(Cell {
                begin: times.begin(first),
                end: times.end(behind - 1),
                first,
                behind,
            });
        };
        let (mut row, end) = self.order.touching(window.from, window.to);
        // Steps have about as many rows as those before them.
        let mut ahead = 0;
        while row < end {
            let next = window.next(times.begin(row));
            let found = |time| self.order.first_from(row, time, ahead).min(end);
            let next = next.map_or(end, found);
            ahead = times.blocks_between(row, next);
            // A span that lasts a step is the last one that begins in its step.
            let long = times.length(next - 1) >= window.step;
            let short = next - usize::from(long);
            if row < short {
                emit(row, short);
            }
            if long {
                emit(next - 1, next);
            }
            row = next;
        }
        cells
    }
}
