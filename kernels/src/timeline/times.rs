//! When the rows of a lane begin and end.

use arrow_buffer::ScalarBuffer;

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

/// Times that are found quickly.
pub struct Ordered {
    pub times: Times,
    /// When the first row of each block begins.
    starts: ScalarBuffer<i64>,
}

impl Times {
    pub fn new(begin: ScalarBuffer<i64>, length: ScalarBuffer<i64>, block: usize) -> Times {
        Times {
            begin,
            length,
            block,
        }
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

    pub fn blocks(&self) -> usize {
        self.len().div_ceil(self.block)
    }

    /// The first row of a block, and the row behind its last one.
    pub fn rows(&self, block: usize) -> (usize, usize) {
        (block * self.block, self.len().min((block + 1) * self.block))
    }

    /// The blocks that lie wholly between two rows: the first, and the one behind the last.
    pub fn within(&self, first: usize, end: usize) -> (usize, usize) {
        (first.div_ceil(self.block), end / self.block)
    }

    /// How many blocks one row is behind another.
    #[inline]
    pub fn blocks_between(&self, row: usize, behind: usize) -> usize {
        behind / self.block - row / self.block
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
    pub fn new(times: Times, starts: ScalarBuffer<i64>) -> Ordered {
        Ordered { times, starts }
    }

    /// Return the first row from one on that begins at a time or later.
    ///
    /// It is looked for near the block that is `ahead` blocks further, in few steps if it is there.
    #[inline]
    pub fn first_from(&self, row: usize, time: i64, ahead: usize) -> usize {
        if row >= self.times.len() {
            return self.times.len();
        }
        let own = row / self.times.block;
        let block = self.block_of(own, time, ahead);
        let (first, end) = self.times.rows(block);
        let first = row.max(first);
        let rows = &self.times.begin[first..end];
        // All of a block is read at once faster than halves of it one after the other.
        first + rows.iter().filter(|begin| **begin < time).count()
    }

    /// Return the last block from one on that begins before a time, or that one.
    #[inline]
    fn block_of(&self, own: usize, time: i64, ahead: usize) -> usize {
        let starts = &*self.starts;
        let guess = (own + ahead).min(starts.len() - 1);
        let (mut below, mut above) = (own, guess);
        let mut step = 1;
        if guess == own || starts[guess] < time {
            (below, above) = (guess, guess + 1);
            while above < starts.len() && starts[above] < time {
                (below, above) = (above, above + step);
                step *= 2;
            }
            above = above.min(starts.len());
        } else {
            while below + step < above {
                let lower = above - step;
                if starts[lower] < time {
                    below = lower;
                    break;
                }
                above = lower;
                step *= 2;
            }
        }
        below + starts[below + 1..above].partition_point(|start| *start < time)
    }

    /// Return the rows that touch a range of times: the first, and the one behind the last.
    ///
    /// A row without length touches the range if it does not stand before it.
    pub fn touching(&self, from: i64, to: i64) -> (usize, usize) {
        let inside = self.first_from(0, from, 0);
        // None but the one before can reach into the range, since they do not overlap.
        let reaches = inside > 0 && self.times.end(inside - 1) > from;
        let first = inside - usize::from(reaches);
        (first, self.first_from(inside, to, 0).max(first))
    }
}
