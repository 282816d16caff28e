//! The named monoids: how leaves are made, and how values are converted to columns.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, Decimal128Array, FixedSizeListArray, Float64Array, Int64Array, StructArray, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field};

use super::monoid::{Chosen, Counts, DISORDER, FloatSum, Longest, Monoid, Sum, Text};
use crate::statistics::BINS;

/// Bins of a log2 histogram: one for 0 and one for each number of bits.
const OCTAVES: usize = 65;
/// With more states, nodes are so wide that sums by state are better computed from rows.
pub const MOST_STATES: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Count,
    Sum,
    FloatSum,
    Min,
    Max,
    FloatMin,
    FloatMax,
    First,
    Last,
    Longest,
    States(usize),
    Histogram,
    Sketch,
    Text,
}

/// The numbers of kinds in files, and their names.
const NAMES: [(Kind, u32, &str); 14] = [
    (Kind::Count, 1, "count"),
    (Kind::Sum, 2, "sum"),
    (Kind::FloatSum, 3, "float_sum"),
    (Kind::Min, 4, "min"),
    (Kind::Max, 5, "max"),
    (Kind::FloatMin, 6, "float_min"),
    (Kind::FloatMax, 7, "float_max"),
    (Kind::First, 8, "first"),
    (Kind::Last, 9, "last"),
    (Kind::Longest, 10, "longest"),
    (Kind::States(0), 11, "states"),
    (Kind::Histogram, 12, "histogram"),
    (Kind::Sketch, 13, "sketch"),
    (Kind::Text, 14, "text"),
];

fn signed(word: u64) -> i64 {
    word.cast_signed()
}

fn fail(text: impl Into<String>) -> ArrowError {
    ArrowError::InvalidArgumentError(text.into())
}

impl Kind {
    fn with_states(self, states: usize) -> Option<Kind> {
        match self {
            Kind::States(_) => (1..=MOST_STATES).contains(&states).then_some(Kind::States(states)),
            other => (states == 0).then_some(other),
        }
    }

    pub fn named(name: &str, states: usize) -> Result<Kind, String> {
        let found = NAMES.iter().find(|(_, _, one)| *one == name);
        let Some((kind, ..)) = found else {
            let names: Vec<&str> = NAMES.iter().map(|(_, _, one)| *one).collect();
            return Err(format!("unknown monoid `{name}`, expected one of {}", names.join(", ")));
        };
        kind.with_states(states).ok_or_else(|| match kind {
            Kind::States(_) => format!("found {states} states, expected 1 to {MOST_STATES}"),
            _ => format!("`{name}` has no states"),
        })
    }

    pub fn numbered(number: u32, states: usize) -> Option<Kind> {
        let (kind, ..) = NAMES.iter().find(|(_, one, _)| *one == number)?;
        kind.with_states(states)
    }

    pub fn number(self) -> u32 {
        self.entry().1
    }

    pub fn name(self) -> &'static str {
        self.entry().2
    }

    fn entry(self) -> &'static (Kind, u32, &'static str) {
        let same =
            |one: &&(Kind, u32, &str)| one.0 == self || matches!((one.0, self), (Kind::States(_), Kind::States(_)));
        NAMES.iter().find(same).expect("every kind has a name")
    }

    pub fn states(self) -> usize {
        match self {
            Kind::States(states) => states,
            _ => 0,
        }
    }

    /// A test whether a value is at least a bound (at most, for a minimum), for kinds where appending preserves that.
    pub fn reaches(self, bound: i64) -> Option<impl Fn(&[u64]) -> bool> {
        let known = matches!(self, Kind::Count | Kind::Min | Kind::Max | Kind::Longest);
        known.then_some(move |value: &[u64]| match self {
            Kind::Count => bound <= 0 || value[0] >= bound.cast_unsigned(),
            Kind::Min => value[0] != 0 && signed(value[1]) <= bound,
            Kind::Max => value[0] != 0 && signed(value[1]) >= bound,
            _ => value[0] > u64::try_from(bound).unwrap_or(0),
        })
    }

    pub fn monoid(self) -> Box<dyn Monoid> {
        match self {
            Kind::Count => Box::new(Counts(1)),
            Kind::Sum => Box::new(Sum::<2>),
            Kind::FloatSum => Box::new(FloatSum),
            Kind::Min => Box::new(Chosen(|left, right| signed(right) < signed(left))),
            Kind::Max => Box::new(Chosen(|left, right| signed(right) > signed(left))),
            Kind::FloatMin => Box::new(Chosen(|left, right| f64::from_bits(right) < f64::from_bits(left))),
            Kind::FloatMax => Box::new(Chosen(|left, right| f64::from_bits(right) > f64::from_bits(left))),
            Kind::First => Box::new(Chosen(|_, _| false)),
            Kind::Last => Box::new(Chosen(|_, _| true)),
            Kind::Longest => Box::new(Longest),
            Kind::States(states) => Box::new(Counts(states)),
            Kind::Histogram => Box::new(Counts(OCTAVES)),
            Kind::Sketch => Box::new(Counts(BINS.count())),
            Kind::Text => Box::new(Text),
        }
    }
}

/// Leaves as words, and for texts the text that they are parts of.
pub type Leaves = (Vec<u64>, String);

impl Kind {
    /// The leaves for some values: one each, or several for histograms and sketches; states come with their durations.
    ///
    /// NULL is not a value. `before` is the number of existing leaves, `text` the length of their texts.
    pub fn leaves(
        self,
        values: &ArrayRef,
        states: Option<&ArrayRef>,
        before: usize,
        text: usize,
    ) -> Result<Leaves, ArrowError> {
        if states.is_some() != matches!(self, Kind::States(_)) {
            return Err(fail(format!("states are for the monoid `states`, found `{}`", self.name())));
        }
        let words = match self {
            Kind::FloatSum => floats(values)?.iter().map(|value| value.unwrap_or(0.0).to_bits()).collect(),
            Kind::FloatMin | Kind::FloatMax => {
                let known = |value: Option<f64>| value.filter(|value| !value.is_nan()).map(f64::to_bits);
                floats(values)?.iter().flat_map(|value| optional(known(value))).collect()
            }
            Kind::Min | Kind::Max | Kind::First | Kind::Last => {
                let value = |value: Option<i64>| optional(value.map(i64::cast_unsigned));
                integers(values)?.iter().flat_map(value).collect()
            }
            Kind::Sum => integers(values)?.iter().flat_map(|value| wide(value.unwrap_or(0))).collect(),
            Kind::Count => unsigned(values)?.map(|value| value.unwrap_or(0)).collect(),
            Kind::Longest => {
                (before as u64..).zip(unsigned(values)?).flat_map(|(row, length)| longest(row, length)).collect()
            }
            Kind::States(count) => {
                let states = states.map(integers).transpose()?;
                return Ok((by_state(count, unsigned(values)?, states)?, String::new()));
            }
            Kind::Histogram => counted(values, OCTAVES, |value| 64 - value.leading_zeros() as usize)?,
            Kind::Sketch => counted(values, BINS.count(), |value| BINS.of(value))?,
            Kind::Text => return parts(values, text),
        };
        Ok((words, String::new()))
    }

    /// Convert the values of a monoid into a column, NULL where nothing was aggregated.
    pub fn column(self, words: &[u64], text: &str) -> Result<ArrayRef, ArrowError> {
        let wide = |width: usize| words.chunks_exact(width);
        let chosen = || wide(2).map(|value| (value[0] != 0).then(|| value[1]));
        Ok(match self {
            Kind::Count => Arc::new(UInt64Array::from(words.to_vec())),
            Kind::Sum => {
                let sums = wide(2).map(|value| (i128::from(signed(value[1])) << 64) | i128::from(value[0]));
                Arc::new(Decimal128Array::from_iter_values(sums).with_precision_and_scale(38, 0)?)
            }
            Kind::FloatSum => Arc::new(words.iter().map(|word| Some(f64::from_bits(*word))).collect::<Float64Array>()),
            Kind::Min | Kind::Max | Kind::First | Kind::Last => {
                Arc::new(chosen().map(|value| value.map(signed)).collect::<Int64Array>())
            }
            Kind::FloatMin | Kind::FloatMax => {
                Arc::new(chosen().map(|value| value.map(f64::from_bits)).collect::<Float64Array>())
            }
            Kind::Longest => {
                let row = wide(2).map(|value| (value[0] != 0).then(|| signed(value[1])));
                let length = wide(2).map(|value| value[0].checked_sub(1).map(u64::cast_signed));
                let columns: Vec<(Arc<Field>, ArrayRef)> = vec![
                    (field("row"), Arc::new(row.collect::<Int64Array>())),
                    (field("length"), Arc::new(length.collect::<Int64Array>())),
                ];
                Arc::new(StructArray::from(columns))
            }
            Kind::States(_) | Kind::Histogram | Kind::Sketch => {
                let width = self.monoid().width();
                let values = Arc::new(UInt64Array::from(words.to_vec()));
                let item = Arc::new(Field::new("item", DataType::UInt64, true));
                let width = i32::try_from(width).map_err(|error| fail(error.to_string()))?;
                Arc::new(FixedSizeListArray::try_new(item, width, values, None)?)
            }
            Kind::Text => {
                let mut column = StringBuilder::new();
                for value in wide(2) {
                    let found = (*value != DISORDER).then(|| text.get(value[0] as usize..value[1] as usize));
                    column.append_value(found.flatten().ok_or_else(|| fail("texts were put together out of order"))?);
                }
                Arc::new(column.finish())
            }
        })
    }
}

fn field(name: &str) -> Arc<Field> {
    Arc::new(Field::new(name, DataType::Int64, true))
}

fn optional(word: Option<u64>) -> [u64; 2] {
    word.map_or([0, 0], |word| [1, word])
}

fn wide(value: i64) -> [u64; 2] {
    [value.cast_unsigned(), (value >> 63).cast_unsigned()]
}

fn longest(row: u64, length: Option<u64>) -> [u64; 2] {
    length.map_or([0, 0], |length| [length + 1, row])
}

fn integers(values: &ArrayRef) -> Result<&Int64Array, ArrowError> {
    let found = values.as_primitive_opt::<Int64Type>();
    found.ok_or_else(|| fail(format!("found values of {}, expected int64", values.data_type())))
}

fn floats(values: &ArrayRef) -> Result<&Float64Array, ArrowError> {
    let found = values.as_primitive_opt::<Float64Type>();
    found.ok_or_else(|| fail(format!("found values of {}, expected float64", values.data_type())))
}

/// Numbers that must not be negative.
fn unsigned(values: &ArrayRef) -> Result<impl Iterator<Item = Option<u64>>, ArrowError> {
    let values = integers(values)?;
    if let Some(value) = values.iter().flatten().find(|value| *value < 0) {
        return Err(fail(format!("found {value}, expected no negative numbers")));
    }
    Ok(values.iter().map(|value| value.map(i64::cast_unsigned)))
}

fn by_state(
    count: usize,
    lengths: impl Iterator<Item = Option<u64>>,
    states: Option<&Int64Array>,
) -> Result<Vec<u64>, ArrowError> {
    let mut words = Vec::new();
    for (state, length) in states.into_iter().flatten().zip(lengths) {
        let begin = words.len();
        words.resize(begin + count, 0);
        let Some(state) = state else { continue };
        let place = usize::try_from(state).ok().filter(|state| *state < count);
        let place = place.ok_or_else(|| fail(format!("found state {state}, expected one below {count}")))?;
        words[begin + place] = length.unwrap_or(0);
    }
    Ok(words)
}

/// The number of values of each leaf in each bin.
fn counted(values: &ArrayRef, bins: usize, bin: impl Fn(u64) -> usize) -> Result<Vec<u64>, ArrowError> {
    let mut words = vec![0; values.len() * bins];
    for (leaf, counts) in words.chunks_exact_mut(bins).enumerate() {
        let own = match values.as_list_opt::<i32>() {
            Some(lists) => lists.value(leaf),
            None => values.slice(leaf, 1),
        };
        for value in unsigned(&own)?.flatten() {
            counts[bin(value)] += 1;
        }
    }
    Ok(words)
}

fn parts(values: &ArrayRef, mut end: usize) -> Result<Leaves, ArrowError> {
    let found = values.as_string_opt::<i32>();
    let texts = found.ok_or_else(|| fail(format!("found values of {}, expected texts", values.data_type())))?;
    let (mut words, mut text) = (Vec::new(), String::new());
    for part in texts.iter().map(Option::unwrap_or_default) {
        words.extend([end as u64, (end + part.len()) as u64]);
        text.push_str(part);
        end += part.len();
    }
    Ok((words, text))
}
