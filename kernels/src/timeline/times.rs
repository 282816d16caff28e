//! Start and end times of the rows of a lane.

use std::ops::Range;

use arrow_buffer::{Buffer, ScalarBuffer};

use super::fetch::fetch;
use super::form::{Form, GROUP};

/// A fault of a row of a lane.
#[derive(Debug, PartialEq, Eq)]
pub enum Fault {
    /// Its duration is negative.
    Negative,
    /// Its end is not representable.
    Endless,
    /// It begins before the end of the one before it.
    Overlap,
}

/// Rows in order of time without overlaps.
pub struct Times {
    begin: ScalarBuffer<i64>,
    length: ScalarBuffer<i64>,
    /// Rows of a block.
    block: usize,
}

/// Times that are looked up at once: their memory is fetched together, and has to stay in the caches meanwhile.
pub const AT_ONCE: usize = 16;

/// Times with an index for fast lookup.
pub struct Ordered {
    pub times: Times,
    form: Form,
    index: ScalarBuffer<i64>,
    /// The start times of groups.
    firsts: ScalarBuffer<i64>,
}

/// Return the last of ascending times from `own` on that is before a time, or `own`. The search begins near `guess`.
#[inline]
fn last_before(times: &[i64], own: usize, guess: usize, time: i64) -> usize {
    let (mut below, mut above) = (own, guess);
    let mut step = 1;
    if guess == own || times[guess] < time {
        (below, above) = (guess, guess + 1);
        while above < times.len() && times[above] < time {
            (below, above) = (above, above + step);
            step *= 2;
        }
        above = above.min(times.len());
    } else {
        while below + step < above {
            let lower = above - step;
            if times[lower] < time {
                below = lower;
                break;
            }
            above = lower;
            step *= 2;
        }
    }
    below + times[below + 1..above].partition_point(|one| *one < time)
}

impl Times {
    pub fn new(begin: ScalarBuffer<i64>, length: ScalarBuffer<i64>, block: usize) -> Times {
        Times { begin, length, block }
    }

    /// Return the first row with a fault, if there is one.
    pub fn check(&self) -> Result<(), (usize, Fault)> {
        let mut latest = i64::MIN;
        for (row, (begin, length)) in self.begin.iter().zip(&self.length).enumerate() {
            if *length < 0 {
                return Err((row, Fault::Negative));
            }
            if *begin < latest {
                return Err((row, Fault::Overlap));
            }
            latest = begin.checked_add(*length).ok_or((row, Fault::Endless))?;
        }
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.begin.len()
    }

    /// The first row of a block, and the row after its last one.
    pub fn rows(&self, block: usize) -> (usize, usize) {
        (block * self.block, self.len().min((block + 1) * self.block))
    }

    /// The blocks wholly between two rows: the first, and the one after the last.
    pub fn within(&self, first: usize, end: usize) -> (usize, usize) {
        (first.div_ceil(self.block), end / self.block)
    }

    #[inline]
    pub fn begin(&self, row: usize) -> i64 {
        self.begin[row]
    }

    #[inline]
    pub fn length(&self, row: usize) -> i64 {
        self.length[row]
    }

    #[inline]
    pub fn end(&self, row: usize) -> i64 {
        self.begin[row] + self.length[row]
    }
}

impl Ordered {
    /// Rows with an index.
    pub fn new(times: Times, form: Form, index: &Buffer) -> Ordered {
        let words = |range: Range<usize>| ScalarBuffer::new(index.clone(), range.start, range.len());
        Ordered { times, form, index: words(0..form.words()), firsts: words(form.firsts()) }
    }

    /// The group of a row.
    #[inline]
    fn group(&self, row: usize) -> usize {
        row / (self.times.block * GROUP)
    }

    /// Return the first row from `row` on that begins at a time or later.
    pub fn first_from(&self, row: usize, time: i64) -> usize {
        self.first_near(row, time, 0)
    }

    /// The same, with an estimate of the number of rows that begin before.
    #[inline]
    pub fn first_near(&self, row: usize, time: i64, ahead: usize) -> usize {
        let mut found = [0];
        self.each_from(row, ahead, &[time], &mut found);
        found[0]
    }

    /// Find the first rows from `row` on that begin at some times or later; the times are ascending, at most `AT_ONCE`.
    ///
    /// The search for each begins `ahead` rows after the one before.
    pub fn each_from(&self, row: usize, ahead: usize, times: &[i64], found: &mut [usize]) {
        let all = &self.times;
        if row >= all.len() {
            found.fill(all.len());
            return;
        }
        // Each stage runs for all times before the next stage, since only the first depends on the result for the time
        // before: groups are mostly found in cached memory.
        let mut groups = [(0, 0); AT_ONCE];
        let ahead = ahead / (all.block * GROUP);
        let mut group = self.group(row);
        for (time, place) in times.iter().zip(&mut groups) {
            let guess = (group + ahead).min(self.firsts.len() - 1);
            group = last_before(&self.firsts, group, guess, *time);
            *place = (group, self.guess(group, *time));
        }
        let groups = &groups[..times.len()];
        for (group, guess) in groups {
            let block = group * GROUP + guess;
            let (row, _) = all.rows(block);
            fetch(&self.index[self.form.starts(*group)][*guess..=*guess]);
            fetch(&all.begin[row..=row]);
            fetch(&all.length[row..=row]);
        }
        let mut rows = [(0, 0); AT_ONCE];
        for ((time, (group, guess)), place) in times.iter().zip(groups).zip(&mut rows) {
            let starts = &self.index[self.form.starts(*group)];
            *place = all.rows(group * GROUP + last_before(starts, 0, *guess, *time));
        }
        let rows = &rows[..times.len()];
        for (first, end) in rows {
            fetch(&all.begin[*first..*end]);
            fetch(&all.length[*first..*end]);
        }
        for ((time, (first, end)), place) in times.iter().zip(rows).zip(found) {
            // A linear scan of a block is faster than binary search.
            let rows = &all.begin[*first..*end];
            let before = rows.iter().filter(|begin| **begin < *time).count();
            *place = row.max(first + before);
        }
    }

    /// Return the estimated position in a group of the block that begins at a time.
    #[inline]
    fn guess(&self, group: usize, time: i64) -> usize {
        let (Some(first), Some(end)) = (self.firsts.get(group), self.firsts.get(group + 1)) else {
            return 0;
        };
        let from = |time: i64| time.wrapping_sub(*first).cast_unsigned() as f64;
        let part = from(time.max(*first)) / from(*end).max(1.0);
        ((part * GROUP as f64) as usize).min(GROUP - 1)
    }

    /// Return the rows that touch a range of times: the first, and the one after the last.
    ///
    /// A row without length touches the range unless it is before it.
    pub fn touching(&self, from: i64, to: i64) -> (usize, usize) {
        let inside = self.first_from(0, from);
        // Only the row before can extend into the range, since rows do not overlap.
        let reaches = inside > 0 && self.times.end(inside - 1) > from;
        let first = inside - usize::from(reaches);
        (first, self.first_from(inside, to).max(first))
    }
}
