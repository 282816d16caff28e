//! When the rows of a lane begin and end.

use std::ops::Range;

use arrow_buffer::{Buffer, ScalarBuffer};

use super::fetch::fetch;
use super::form::{Form, GROUP};

/// What is wrong with a row of a lane.
#[derive(Debug, PartialEq, Eq)]
pub enum Fault {
    /// Its duration is negative.
    Negative,
    /// It ends after the last time that there is.
    Endless,
    /// It begins before the one before it ends.
    Overlap,
}

/// Rows in order of time of which none overlap.
pub struct Times {
    begin: ScalarBuffer<i64>,
    length: ScalarBuffer<i64>,
    /// Rows of a block.
    block: usize,
}

/// Times that are looked for at once: their memory is fetched together, and has to stay in the caches meanwhile.
pub const AT_ONCE: usize = 16;

/// Times that are found quickly.
pub struct Ordered {
    pub times: Times,
    form: Form,
    index: ScalarBuffer<i64>,
    /// When the first row of each group begins.
    firsts: ScalarBuffer<i64>,
}

/// Return the last of ascending times from `own` on that is before a time, or that one. It is looked for near `guess`.
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

    /// Return the first row that has a fault, if one has.
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

    /// The first row of a block, and the row behind its last one.
    pub fn rows(&self, block: usize) -> (usize, usize) {
        (block * self.block, self.len().min((block + 1) * self.block))
    }

    /// The blocks that lie wholly between two rows: the first, and the one behind the last.
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
    /// Rows whose index is there.
    pub fn new(times: Times, form: Form, index: &Buffer) -> Ordered {
        let words = |range: Range<usize>| ScalarBuffer::new(index.clone(), range.start, range.len());
        Ordered { times, form, index: words(0..form.words()), firsts: words(form.firsts()) }
    }

    /// The group of a row.
    #[inline]
    fn group(&self, row: usize) -> usize {
        row / (self.times.block * GROUP)
    }

    /// Return the first row from one on that begins at a time or later.
    pub fn first_from(&self, row: usize, time: i64) -> usize {
        self.first_near(row, time, 0)
    }

    /// The same, where about so many rows more begin before.
    #[inline]
    pub fn first_near(&self, row: usize, time: i64, ahead: usize) -> usize {
        let mut found = [0];
        self.each_from(row, ahead, &[time], &mut found);
        found[0]
    }

    /// Find the first rows from one on that begin at some times or later; those are ascending, no more than `AT_ONCE`.
    ///
    /// Each is looked for about so many rows behind the one before.
    pub fn each_from(&self, row: usize, ahead: usize, times: &[i64], found: &mut [usize]) {
        let all = &self.times;
        if row >= all.len() {
            found.fill(all.len());
            return;
        }
        // Each step is taken for all times before the next one, since none but the first waits for what the one before
        // found: groups are found in memory that is at hand, mostly.
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
            // All of a block is read at once faster than halves of it one after the other.
            let rows = &all.begin[*first..*end];
            let before = rows.iter().filter(|begin| **begin < *time).count();
            *place = row.max(first + before);
        }
    }

    /// Return about where in a group a block is that begins at a time.
    #[inline]
    fn guess(&self, group: usize, time: i64) -> usize {
        let (Some(first), Some(end)) = (self.firsts.get(group), self.firsts.get(group + 1)) else {
            return 0;
        };
        let from = |time: i64| time.wrapping_sub(*first).cast_unsigned() as f64;
        let part = from(time.max(*first)) / from(*end).max(1.0);
        ((part * GROUP as f64) as usize).min(GROUP - 1)
    }

    /// Return the rows that touch a range of times: the first, and the one behind the last.
    ///
    /// A row without length touches the range if it does not stand before it.
    pub fn touching(&self, from: i64, to: i64) -> (usize, usize) {
        let inside = self.first_from(0, from);
        // None but the one before can reach into the range, since they do not overlap.
        let reaches = inside > 0 && self.times.end(inside - 1) > from;
        let first = inside - usize::from(reaches);
        (first, self.first_from(inside, to).max(first))
    }
}
