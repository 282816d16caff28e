//! Define how the aggregates over ranges of rows, given by name, keep, combine and show values.

use std::sync::Arc;

use arrow_array::{ArrayRef, Decimal128Array, Float64Array, Int64Array};
use arrow_schema::{ArrowError, DataType};

use super::aggregates::mean;
use super::failure::fail;
use super::numbers::{Number, Numbers, column, is_narrow, scale};
use crate::forest::{FloatSum, Monoid, Sum};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Function {
    Count,
    Sum,
    Min,
    Max,
    Mean,
    First,
    Last,
}

const NAMES: [(&str, Function); 7] = [
    ("count", Function::Count),
    ("sum", Function::Sum),
    ("min", Function::Min),
    ("max", Function::Max),
    ("mean", Function::Mean),
    ("first", Function::First),
    ("last", Function::Last),
];

/// The largest decimal of 38 digits.
const MOST: i128 = 10i128.pow(38) - 1;

/// The largest or the smallest of numbers: its sort, 0 if there is none, and its bits.
struct Best {
    most: bool,
}

impl Monoid for Best {
    fn width(&self) -> usize {
        3
    }

    fn append(&self, value: &mut [u64], right: &[u64]) {
        let better = match (number(value), number(right)) {
            (Some(before), Some(after)) if self.most => after.exceeds(before),
            (Some(before), Some(after)) => before.exceeds(after),
            (before, _) => before.is_none(),
        };
        if better {
            value.copy_from_slice(right);
        }
    }
}

fn number(words: &[u64]) -> Option<Number> {
    match words[0] {
        0 => None,
        1 => Some(Number::Whole(whole(words[1], words[2]))),
        _ => Some(Number::Real(f64::from_bits(words[1]))),
    }
}

fn whole(low: u64, high: u64) -> i128 {
    (i128::from(high.cast_signed()) << 64) | i128::from(low)
}

/// The low word and the high one.
fn halves(value: i128) -> [u64; 2] {
    [value as u64, (value >> 64) as u64]
}

/// The aggregate, its argument and its representation.
pub struct Measure {
    pub function: Function,
    data_type: DataType,
}

/// The representation of values that are summed or compared.
pub enum Values {
    None,
    Whole(Vec<i64>),
    Wide(Vec<i128>),
    Real(Vec<f64>),
}

impl Values {
    pub fn push(&mut self, number: Number, scale: i8) {
        match (self, number) {
            (Self::None, _) => (),
            (Self::Whole(values), Number::Whole(value)) => values.push(value as i64),
            (Self::Wide(values), Number::Whole(value)) => values.push(value),
            (Self::Real(values), value) => values.push(value.real(scale)),
            (Self::Whole(_) | Self::Wide(_), Number::Real(_)) => (),
        }
    }

    #[inline]
    pub fn get(&self, row: usize) -> Number {
        match self {
            Self::None => Number::Whole(0),
            Self::Whole(values) => Number::Whole(values[row].into()),
            Self::Wide(values) => Number::Whole(values[row]),
            Self::Real(values) => Number::Real(values[row]),
        }
    }
}

impl Measure {
    pub fn new(name: &str, data_type: &DataType) -> Result<Self, ArrowError> {
        let Some((_, function)) = NAMES.iter().find(|(known, _)| *known == name) else {
            let names = NAMES.map(|(known, _)| known).join(", ");
            return Err(fail(format!("aggregate is {name:?}, expected {names}")));
        };
        let made = Self { function: *function, data_type: data_type.clone() };
        if made.computes() {
            Numbers::check(data_type)?;
        }
        Ok(made)
    }

    /// Whether it takes numbers, not just rows.
    pub fn computes(&self) -> bool {
        !self.picks() && self.function != Function::Count
    }

    /// Whether it returns the value of one row.
    pub fn picks(&self) -> bool {
        matches!(self.function, Function::First | Function::Last)
    }

    /// Digits after the decimal point.
    pub fn scale(&self) -> i8 {
        scale(&self.data_type)
    }

    /// Whether it computes with floats.
    fn is_real(&self) -> bool {
        // Means of decimals are floats, and rounded.
        let rounded = self.function == Function::Mean && !is_narrow(&self.data_type);
        rounded || self.data_type.is_floating()
    }

    pub fn values(&self) -> Values {
        match &self.data_type {
            _ if !self.computes() => Values::None,
            _ if self.is_real() => Values::Real(Vec::new()),
            DataType::UInt64 | DataType::Decimal128(..) => Values::Wide(Vec::new()),
            _ => Values::Whole(Vec::new()),
        }
    }

    pub fn monoid(&self) -> Box<dyn Monoid> {
        match self.function {
            Function::Min => Box::new(Best { most: false }),
            Function::Max => Box::new(Best { most: true }),
            _ if self.is_real() => Box::new(FloatSum),
            _ => Box::new(Sum::<3>),
        }
    }

    /// Write a value in the monoid's words.
    #[inline]
    pub fn write(&self, value: Number, words: &mut [u64]) {
        let best = matches!(self.function, Function::Min | Function::Max);
        match value {
            Number::Real(value) if best => words.copy_from_slice(&[2, value.to_bits(), 0]),
            Number::Real(value) => words[0] = value.to_bits(),
            Number::Whole(value) => {
                let [low, high] = halves(value);
                let sign = if value < 0 { u64::MAX } else { 0 };
                words.copy_from_slice(&if best { [1, low, high] } else { [low, high, sign] });
            }
        }
    }

    /// The type of the result.
    pub fn result(&self) -> DataType {
        match self.function {
            Function::Count => DataType::Int64,
            Function::Mean => DataType::Float64,
            Function::Sum => match &self.data_type {
                DataType::Decimal128(_, scale) => DataType::Decimal128(38, *scale),
                real if real.is_floating() => DataType::Float64,
                _ => DataType::Int64,
            },
            _ => self.data_type.clone(),
        }
    }

    /// Make a column from counts of values and aggregates.
    pub fn column(&self, counts: &[u64], words: &[u64]) -> Result<ArrayRef, ArrowError> {
        let width = self.monoid().width();
        let each = || {
            let known = |&count: &u64| (count > 0).then_some(count);
            counts.iter().map(known).zip(words.chunks_exact(width))
        };
        let real = |words: &[u64]| f64::from_bits(words[0]);
        Ok(match self.function {
            Function::Count => {
                let counts = counts.iter().map(|&count| count as i64);
                Arc::new(Int64Array::from_iter_values(counts))
            }
            Function::Min | Function::Max => column(each().map(|(_, words)| number(words)), &self.data_type)?,
            Function::Mean if self.is_real() => {
                let mean = |(count, words)| Some(real(words) / count? as f64);
                Arc::new(each().map(mean).collect::<Float64Array>())
            }
            Function::Mean => {
                let own = &self.data_type;
                let mean = |(count, words): (Option<u64>, &[u64])| Some(mean(whole(words[0], words[1]), count?, own));
                Arc::new(each().map(mean).collect::<Float64Array>())
            }
            _ if self.is_real() => {
                let sum = |(count, words): (Option<u64>, _)| count.map(|_| real(words));
                Arc::new(each().map(sum).collect::<Float64Array>())
            }
            _ => {
                let sums = each().map(|(count, words)| count.map(|_| sum(words)));
                self.sums(sums)?
            }
        })
    }

    fn sums(&self, sums: impl Iterator<Item = Option<Option<i128>>>) -> Result<ArrayRef, ArrowError> {
        let result = self.result();
        let most = match result {
            DataType::Decimal128(..) => MOST,
            _ => i64::MAX.into(),
        };
        let least = match result {
            DataType::Decimal128(..) => -MOST,
            _ => i64::MIN.into(),
        };
        let fits = |sum: Option<Option<i128>>| match sum {
            None => Ok(None),
            Some(Some(sum)) if (least..=most).contains(&sum) => Ok(Some(sum)),
            Some(Some(sum)) if result == DataType::Int64 => {
                Err(fail(format!("integer overflow: {sum} does not fit into 64 bits")))
            }
            Some(_) => Err(fail("decimal overflow: a sum has more than 38 digits")),
        };
        let sums = sums.map(fits).collect::<Result<Vec<_>, _>>()?;
        Ok(match result {
            DataType::Decimal128(precision, scale) => {
                Arc::new(Decimal128Array::from(sums).with_precision_and_scale(precision, scale)?)
            }
            _ => {
                let narrow = sums.into_iter().map(|sum| sum.map(|sum| sum as i64));
                Arc::new(narrow.collect::<Int64Array>())
            }
        })
    }
}

/// A sum of three words, if it fits into 128 bits.
fn sum(words: &[u64]) -> Option<i128> {
    let sum = whole(words[0], words[1]);
    let sign = if sum < 0 { u64::MAX } else { 0 };
    (words[2] == sign).then_some(sum)
}
