//! Convert a numeric column of any type into numbers that compare exactly, and such numbers back into a column.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Decimal128Array, Float64Array, Int64Array, PrimitiveArray, UInt64Array};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};

use super::aggregates::larger;
use super::failure::fail;

/// A number: decimals without their point.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    Whole(i128),
    Real(f64),
}

impl Number {
    /// Whether it is larger than another of its column; NaN is larger than any other, as in the engine.
    #[inline]
    pub fn exceeds(self, other: Number) -> bool {
        match (self, other) {
            (Number::Whole(a), Number::Whole(b)) => a > b,
            (a, b) => larger(a.real(0), b.real(0)),
        }
    }

    /// As a float; `scale` is the number of digits after the decimal point.
    #[inline]
    pub fn real(self, scale: i8) -> f64 {
        match self {
            Number::Whole(value) if scale == 0 => value as f64,
            Number::Whole(value) => value as f64 / 10f64.powi(scale.into()),
            Number::Real(value) => value,
        }
    }
}

/// The number of digits after the decimal point in numbers of a type.
pub fn scale(data_type: &DataType) -> i8 {
    match data_type {
        DataType::Decimal128(_, scale) => *scale,
        _ => 0,
    }
}

/// Whether the numbers of a type are integers of up to 64 bits, so that sums fit into 128.
pub fn is_narrow(data_type: &DataType) -> bool {
    data_type.is_integer()
}

/// The numbers of a column.
pub enum Numbers {
    Whole(Int64Array),
    Large(UInt64Array),
    Decimal(Decimal128Array),
    Real(Float64Array),
}

impl Numbers {
    /// Fails for types that are not numeric.
    pub fn check(data_type: &DataType) -> Result<(), ArrowError> {
        match data_type {
            DataType::Float32 | DataType::Float64 | DataType::Decimal128(..) => Ok(()),
            whole if whole.is_integer() => Ok(()),
            other => Err(fail(format!("found {other}, expected numbers"))),
        }
    }

    pub fn new(column: &ArrayRef) -> Result<Self, ArrowError> {
        Ok(match column.data_type() {
            DataType::UInt64 => Self::Large(column.as_primitive().clone()),
            DataType::Decimal128(..) => Self::Decimal(column.as_primitive().clone()),
            DataType::Float32 | DataType::Float64 => {
                Self::Real(cast(column, &DataType::Float64)?.as_primitive().clone())
            }
            other => {
                Self::check(other)?;
                Self::Whole(cast(column, &DataType::Int64)?.as_primitive().clone())
            }
        })
    }

    /// The number in a row, unless it is NULL.
    #[inline]
    pub fn get(&self, row: usize) -> Option<Number> {
        match self {
            Self::Whole(column) => value::<Int64Type>(column, row).map(|v| Number::Whole(v.into())),
            Self::Large(column) => value::<UInt64Type>(column, row).map(|v| Number::Whole(v.into())),
            Self::Decimal(column) => value::<Decimal128Type>(column, row).map(Number::Whole),
            Self::Real(column) => value::<Float64Type>(column, row).map(Number::Real),
        }
    }
}

#[inline]
fn value<T: arrow_array::ArrowPrimitiveType>(column: &PrimitiveArray<T>, row: usize) -> Option<T::Native> {
    (!column.is_null(row)).then(|| column.value(row))
}

/// Convert numbers into a column of a type.
pub fn column(numbers: impl Iterator<Item = Option<Number>>, data_type: &DataType) -> Result<ArrayRef, ArrowError> {
    if data_type.is_floating() {
        let real = numbers.map(|number| number.map(|number| number.real(0)));
        return cast(&real.collect::<Float64Array>(), data_type);
    }
    let whole = numbers.map(|number| match number {
        Some(Number::Whole(value)) => Some(value),
        _ => None,
    });
    Ok(match data_type {
        DataType::Decimal128(precision, scale) => {
            Arc::new(whole.collect::<Decimal128Array>().with_precision_and_scale(*precision, *scale)?)
        }
        DataType::UInt64 => {
            Arc::new(whole.map(|value| value.and_then(|value| u64::try_from(value).ok())).collect::<UInt64Array>())
        }
        other => {
            let whole = whole.map(|value| value.and_then(|value| i64::try_from(value).ok()));
            cast(&whole.collect::<Int64Array>(), other)?
        }
    })
}
