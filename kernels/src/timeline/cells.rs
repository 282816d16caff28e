//! A lane at a coarse scale: spans that last a step or longer, and one cell per step for the others.

use super::lane::{Lane, Worth};
use super::times::AT_ONCE;

/// The part to draw: rows that touch a range of times, and the width below which they are merged.
#[derive(Clone, Copy)]
pub struct Window {
    pub from: i64,
    pub to: i64,
    /// Greater than 0.
    pub step: i64,
}

impl Window {
    /// Return the start of the step of a time.
    pub fn start(&self, time: i64) -> i64 {
        let start = time.div_euclid(self.step).checked_mul(self.step);
        start.unwrap_or(i64::MIN)
    }

    /// Return the start of the step after that of a time, if it is in range.
    pub fn next(&self, time: i64) -> Option<i64> {
        let number = time.div_euclid(self.step).checked_add(1)?;
        number.checked_mul(self.step)
    }
}

/// Rows of a lane that are drawn as one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub begin: i64,
    pub end: i64,
    pub first: usize,
    /// The row after the last one.
    pub behind: usize,
}

impl<W: Worth> Lane<W> {
    /// Pass the cells of a window to a function, in order of time, with the aggregates of their rows.
    ///
    /// Several are looked up at once, and aggregated when all of these are found, so that their memory is fetched
    /// together.
    pub fn cells(&self, window: Window, mut each: impl FnMut(Cell, &[u64])) {
        let times = self.times();
        let mut sum = vec![0; self.worth().width()];
        let mut cells = Vec::new();
        let (mut row, end) = self.order.touching(window.from, window.to);
        // Steps that are looked up at once: where rows are sparse most steps are empty.
        let mut many = 1;
        let (mut steps, mut found) = ([0; AT_ONCE], [0; AT_ONCE]);
        // Steps have about as many rows as the steps before them.
        let mut ahead = 0;
        while row < end {
            let mut next = window.next(times.begin(row));
            let mut count = 0;
            while let Some(time) = next.filter(|_| count < many) {
                steps[count] = time;
                count += 1;
                next = time.checked_add(window.step);
            }
            self.order.each_from(row, ahead, &steps[..count], &mut found);
            if count < many {
                // The rows of the last representable step.
                found[count] = end;
                count += 1;
            }
            let (before, mut filled) = (row, 0);
            for behind in &found[..count] {
                let behind = end.min(*behind);
                if row == behind {
                    continue;
                }
                // A span that lasts a step is the last one that begins in its step.
                let long = times.length(behind - 1) >= window.step;
                let short = behind - usize::from(long);
                for (first, behind) in [(row, short), (short, behind)] {
                    if first < behind {
                        cells.push(Cell { begin: times.begin(first), end: times.end(behind - 1), first, behind });
                    }
                }
                row = behind;
                filled += 1;
            }
            ahead = (row - before) / count;
            many = (2 * filled).min(AT_ONCE);
            for cell in &cells {
                self.fetch(cell.first, cell.behind);
            }
            for cell in cells.drain(..) {
                sum.fill(0);
                self.gather(cell.first, cell.behind, &mut sum);
                each(cell, &sum);
            }
        }
    }
}
