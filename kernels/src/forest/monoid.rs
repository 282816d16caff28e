//! The values of nodes, and the operation that combines two neighbours.

/// An associative operation with an identity over values of a fixed number of 64-bit words.
pub trait Monoid: Send + Sync {
    /// Words of a value.
    fn width(&self) -> usize;

    /// Write the identity, the value of no leaves.
    fn identity(&self, value: &mut [u64]) {
        value.fill(0);
    }

    /// Append the value to the right of all that `value` aggregates; the operation need not be commutative.
    fn append(&self, value: &mut [u64], right: &[u64]);
}

/// Sums of unsigned numbers, word by word: a count, the counts of a histogram's or a sketch's bins, time by state.
pub struct Counts(pub usize);

impl Monoid for Counts {
    #[inline]
    fn width(&self) -> usize {
        self.0
    }

    #[inline]
    fn append(&self, value: &mut [u64], right: &[u64]) {
        for (sum, more) in value.iter_mut().zip(right) {
            *sum = sum.wrapping_add(*more);
        }
    }
}

/// A sum of signed numbers in `WORDS` words, the low ones first: one word more than the numbers have prevents overflow.
pub struct Sum<const WORDS: usize>;

impl<const WORDS: usize> Monoid for Sum<WORDS> {
    #[inline]
    fn width(&self) -> usize {
        WORDS
    }

    #[inline]
    fn append(&self, value: &mut [u64], right: &[u64]) {
        let mut carry = false;
        for (word, more) in value.iter_mut().zip(right) {
            let (sum, over) = word.overflowing_add(*more);
            let (sum, carried) = sum.overflowing_add(carry.into());
            *word = sum;
            carry = over | carried;
        }
    }
}

/// A sum of floating-point numbers, rounded at each step.
pub struct FloatSum;

impl Monoid for FloatSum {
    #[inline]
    fn width(&self) -> usize {
        1
    }

    #[inline]
    fn append(&self, value: &mut [u64], right: &[u64]) {
        value[0] = (f64::from_bits(value[0]) + f64::from_bits(right[0])).to_bits();
    }
}

/// One of the existing values: whether there is one, then its bits. The function returns whether to choose the right
/// one of two.
pub struct Chosen<F>(pub F);

impl<F: Fn(u64, u64) -> bool + Send + Sync> Monoid for Chosen<F> {
    #[inline]
    fn width(&self) -> usize {
        2
    }

    #[inline]
    fn append(&self, value: &mut [u64], right: &[u64]) {
        if right[0] != 0 && (value[0] == 0 || (self.0)(value[1], right[1])) {
            value.copy_from_slice(right);
        }
    }
}

/// The row with the largest number: the number and 1, or 0 where there is no row; then the row. The first of equals.
pub struct Longest;

impl Monoid for Longest {
    #[inline]
    fn width(&self) -> usize {
        2
    }

    #[inline]
    fn append(&self, value: &mut [u64], right: &[u64]) {
        if right[0] > value[0] {
            value.copy_from_slice(right);
        }
    }
}

/// A text made of neighbouring parts of one long text: its start and end there.
pub struct Text;

/// The result of combining parts in another order than that of the text.
pub const DISORDER: [u64; 2] = [u64::MAX; 2];

impl Monoid for Text {
    #[inline]
    fn width(&self) -> usize {
        2
    }

    #[inline]
    fn append(&self, value: &mut [u64], right: &[u64]) {
        if right[0] == right[1] && *right != DISORDER {
            return;
        }
        if value[0] == value[1] && *value != DISORDER {
            value.copy_from_slice(right);
        } else if value[1] == right[0] && *value != DISORDER {
            value[1] = right[1];
        } else {
            value.copy_from_slice(&DISORDER);
        }
    }
}

impl Monoid for Box<dyn Monoid> {
    fn width(&self) -> usize {
        (**self).width()
    }

    fn identity(&self, value: &mut [u64]) {
        (**self).identity(value);
    }

    fn append(&self, value: &mut [u64], right: &[u64]) {
        (**self).append(value, right);
    }
}
