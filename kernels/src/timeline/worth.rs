//! Monoids of the rows of lanes: slices, states, values of counters.

use std::ops::Range;

use arrow_buffer::ScalarBuffer;

use super::lane::Worth;
use super::times::Times;
use crate::forest::Monoid;

/// Minimum rows of a block, which is a leaf of the forest: few enough to scan, enough for a small forest.
const ROWS: usize = 32;

/// Slices: the largest length and 1, or 0 without any; its row, the first of equals; the sum of all lengths.
pub struct Slices;

impl Slices {
    pub const WIDTH: usize = 3;
}

impl Monoid for Slices {
    #[inline]
    fn width(&self) -> usize {
        Slices::WIDTH
    }

    #[inline]
    fn append(&self, value: &mut [u64], right: &[u64]) {
        // Without branches, which are unpredictable here, the next reads run meanwhile.
        let longer = right[0] > value[0];
        value[0] = value[0].max(right[0]);
        value[1] = if longer { right[1] } else { value[1] };
        value[2] += right[2];
    }
}

impl Worth for Slices {
    #[inline]
    fn append_row(&self, times: &Times, row: usize, value: &mut [u64]) {
        let length = times.length(row).cast_unsigned();
        self.append(value, &[length + 1, row as u64, length]);
    }

    fn block(&self) -> usize {
        ROWS
    }
}

/// States: the words of slices, then the sum of the lengths of each state.
pub struct States {
    /// The state of each row: at least 0, less than `count`.
    pub states: ScalarBuffer<i32>,
    pub count: usize,
}

impl States {
    /// The states of some rows.
    pub fn of(states: &ScalarBuffer<i32>, count: usize, rows: Range<usize>) -> States {
        States { states: states.slice(rows.start, rows.len()), count }
    }

    /// The state with the largest share of a value, the first of equals, and its length.
    pub fn majority(value: &[u64]) -> (usize, u64) {
        let mut found = (0, 0);
        for (state, filled) in value[Slices::WIDTH..].iter().enumerate() {
            if *filled > found.1 {
                found = (state, *filled);
            }
        }
        found
    }
}

impl Monoid for States {
    #[inline]
    fn width(&self) -> usize {
        Slices::WIDTH + self.count
    }

    #[inline]
    fn append(&self, value: &mut [u64], right: &[u64]) {
        Slices.append(value, right);
        for (sum, more) in value.iter_mut().zip(right).skip(Slices::WIDTH) {
            *sum += more;
        }
    }
}

impl Worth for States {
    #[inline]
    fn append_row(&self, times: &Times, row: usize, value: &mut [u64]) {
        Slices.append_row(times, row, value);
        value[Slices::WIDTH + self.states[row] as usize] += times.length(row).cast_unsigned();
    }

    /// Wider nodes get more rows per block, so that the memory per row is the same.
    fn block(&self) -> usize {
        ROWS * self.width().div_ceil(Slices::WIDTH)
    }
}

/// Values of a counter: whether one is known, the minimum, the maximum, the sum of value times length, the sum of
/// lengths.
///
/// NaN means unknown.
pub struct Values(pub ScalarBuffer<f64>);

impl Values {
    pub const WIDTH: usize = 5;

    /// The values of some rows.
    pub fn of(values: &ScalarBuffer<f64>, rows: Range<usize>) -> Values {
        Values(values.slice(rows.start, rows.len()))
    }

    /// Aggregate a value with a length.
    #[inline]
    pub fn append_value(&self, value: f64, length: u64, sum: &mut [u64]) {
        if !value.is_nan() {
            let (bits, weighted) = (value.to_bits(), value * length as f64);
            // An infinite value without length counts 0; 0 times infinity would be NaN.
            let weighted = if length == 0 { 0.0 } else { weighted };
            self.append(sum, &[1, bits, bits, weighted.to_bits(), length]);
        }
    }
}

impl Monoid for Values {
    #[inline]
    fn width(&self) -> usize {
        Values::WIDTH
    }

    #[inline]
    fn append(&self, value: &mut [u64], right: &[u64]) {
        if right[0] == 0 {
            return;
        }
        if value[0] == 0 {
            value.copy_from_slice(&right[..Values::WIDTH]);
            return;
        }
        let number = f64::from_bits;
        if number(right[1]) < number(value[1]) {
            value[1] = right[1];
        }
        if number(right[2]) > number(value[2]) {
            value[2] = right[2];
        }
        value[3] = (number(value[3]) + number(right[3])).to_bits();
        value[4] += right[4];
    }
}

impl Worth for Values {
    #[inline]
    fn append_row(&self, times: &Times, row: usize, value: &mut [u64]) {
        self.append_value(self.0[row], times.length(row).cast_unsigned(), value);
    }

    fn block(&self) -> usize {
        ROWS * 2
    }
}
