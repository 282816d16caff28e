//! Build checked functions over payload or times from aggregates, given by name and argument, with their result types.

use arrow_schema::{ArrowError, DataType, FieldRef};
use pyo3::prelude::*;

use super::failure::fail;

/// An aggregate as given by Python: the name of its function, and its argument.
pub type Call = (String, Option<Argument>);

/// A payload column by number, or the piece's `_ts` or `_duration`.
#[derive(FromPyObject)]
pub enum Argument {
    Column(usize),
    Time(String),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Function {
    Sum,
    /// A sum of integers in 128 bits.
    WideSum,
    Count,
    Min,
    Max,
    Avg,
    First,
    Last,
    /// Sum of value times duration, in 128 bits for integers.
    TimeSum,
    /// Sum of the durations of pieces that have a value, in 128 bits.
    TimeKnown,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AggregateInput {
    Rows,
    Start,
    Duration,
    Column(usize),
}

/// How values are held while they are aggregated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Integers up to 64 bits, with sign.
    Whole,
    Real,
    /// Anything else.
    Other,
}

/// One aggregate, checked against the payload's types.
pub struct Aggregate {
    pub function: Function,
    pub taken: AggregateInput,
    /// The type of the argument.
    pub data_type: DataType,
    pub form: Form,
    pub result: DataType,
}

/// As wide as a sum of 64-bit integers can get.
pub const WIDE: DataType = DataType::Decimal128(38, 0);

impl Function {
    fn parse(name: &str) -> Result<Self, ArrowError> {
        Ok(match name {
            "sum" => Self::Sum,
            "wide_sum" => Self::WideSum,
            "count" => Self::Count,
            "min" => Self::Min,
            "max" => Self::Max,
            "avg" => Self::Avg,
            "first" => Self::First,
            "last" => Self::Last,
            "time_sum" => Self::TimeSum,
            "time_known" => Self::TimeKnown,
            other => {
                return Err(fail(format!(
                    "aggregate is {other:?}, expected sum, wide_sum, count, min, max, avg, first, last, time_sum or time_known"
                )));
            }
        })
    }

    /// Whether it does arithmetic on values.
    fn computes(self) -> bool {
        matches!(self, Self::Sum | Self::WideSum | Self::Avg | Self::TimeSum)
    }

    /// Whether it takes durations whatever its argument is.
    pub fn weighs(self) -> bool {
        matches!(self, Self::TimeSum | Self::TimeKnown)
    }
}

impl AggregateInput {
    fn parse(argument: Option<&Argument>) -> Result<Self, ArrowError> {
        Ok(match argument {
            None => Self::Rows,
            Some(Argument::Column(column)) => Self::Column(*column),
            Some(Argument::Time(name)) => match name.as_str() {
                "_ts" => Self::Start,
                "_duration" => Self::Duration,
                other => {
                    return Err(fail(format!("argument is {other:?}, expected \"_ts\" or \"_duration\"")));
                }
            },
        })
    }
}

impl Aggregate {
    pub fn new((function, argument): &Call, payload: &[FieldRef]) -> Result<Self, ArrowError> {
        let (function, taken) = (Function::parse(function)?, AggregateInput::parse(argument.as_ref())?);
        let data_type = match taken {
            AggregateInput::Column(column) => payload
                .get(column)
                .ok_or_else(|| fail(format!("the payload has no column {column}")))?
                .data_type()
                .clone(),
            _ => DataType::Int64,
        };
        let form = match &data_type {
            DataType::UInt64 => Form::Other,
            whole if whole.is_integer() => Form::Whole,
            DataType::Float32 | DataType::Float64 => Form::Real,
            _ => Form::Other,
        };
        if taken == AggregateInput::Rows && function != Function::Count {
            return Err(fail("only count takes nothing"));
        }
        if function.computes() && form == Form::Other {
            return Err(fail(format!("cannot aggregate {data_type}, expected integers up to Int64 or floats")));
        }
        if matches!(function, Function::Min | Function::Max) && !ordered(&data_type) {
            return Err(fail(format!("cannot order {data_type}")));
        }
        let result = match function {
            Function::Sum | Function::WideSum | Function::TimeSum if form == Form::Real => DataType::Float64,
            Function::Sum | Function::Count => DataType::Int64,
            Function::WideSum | Function::TimeSum | Function::TimeKnown => WIDE,
            Function::Avg => DataType::Float64,
            Function::Min | Function::Max | Function::First | Function::Last => data_type.clone(),
        };
        Ok(Self { function, taken, data_type, form, result })
    }
}

/// Whether values of a type are ordered here as in the engine.
fn ordered(data_type: &DataType) -> bool {
    if let DataType::Dictionary(_, values) = data_type {
        return ordered(values);
    }
    matches!(
        data_type,
        DataType::Boolean
            | DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::Date32
            | DataType::Time64(_)
            | DataType::Timestamp(..)
            | DataType::Decimal128(..)
            | DataType::Float32
            | DataType::Float64
    ) || data_type.is_integer()
}

/// The larger of two numbers: NaN is larger than any other, as in the engine.
#[inline]
pub fn larger(a: f64, b: f64) -> bool {
    a > b || (a.is_nan() && !b.is_nan())
}

/// Divides a sum of integers as the engine does: in 64 binary digits, or in 53 for types of up to 16 bits.
pub fn mean(sum: i128, count: u64, data_type: &DataType) -> f64 {
    if count == 0 {
        return f64::NAN;
    }
    if matches!(data_type, DataType::Int8 | DataType::Int16 | DataType::UInt8) {
        return sum as f64 / count as f64;
    }
    let (digits, up) = round(sum.unsigned_abs(), false);
    if digits == 0 {
        return 0.0;
    }
    let dividend = u128::from(digits) << 64;
    let shift = dividend.leading_zeros();
    let (dividend, count) = (dividend << shift, u128::from(count));
    let (digits, down) = round(dividend / count, !dividend.is_multiple_of(count));
    let magnitude = digits as f64 * 2f64.powi(up + down - 64 - shift as i32);
    if sum < 0 { -magnitude } else { magnitude }
}

/// Rounds to 64 binary digits, ties to even, and returns the number of bits shifted out; `more` is whether more digits
/// followed.
fn round(value: u128, more: bool) -> (u64, i32) {
    let moved = 64u32.saturating_sub(value.leading_zeros());
    if moved == 0 {
        return (value as u64, 0);
    }
    let (digits, rest) = ((value >> moved) as u64, value & ((1 << moved) - 1));
    let half = 1u128 << (moved - 1);
    let up = rest > half || (rest == half && (more || digits & 1 == 1));
    match digits.checked_add(u64::from(up)) {
        Some(digits) => (digits, moved as i32),
        None => (1 << 63, moved as i32 + 1),
    }
}
