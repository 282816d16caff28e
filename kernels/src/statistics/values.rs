//! A column of any type, cast to one of the types supported by statistics.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, StringArray, UInt64Array,
};
use arrow_schema::{ArrowError, DataType};

pub enum Typed<'a> {
    Int(&'a Int64Array),
    /// The type of most integers, so they are not cast.
    Narrow(&'a Int32Array),
    Uint(&'a UInt64Array),
    Float(&'a Float64Array),
    Bool(&'a BooleanArray),
    Text(&'a StringArray),
    Coded(&'a DictionaryArray<Int32Type>, &'a StringArray),
    /// Only nulls.
    Nothing,
}

/// Cast a column to a type supported by `typed`.
pub fn supported(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let target = match column.data_type() {
        DataType::Int8 | DataType::Int16 => DataType::Int64,
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => DataType::UInt64,
        DataType::Float16 | DataType::Float32 => DataType::Float64,
        DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::Dictionary(key, value) if **value != DataType::Utf8 || **key != DataType::Int32 => DataType::Utf8,
        _ => return Ok(column.clone()),
    };
    arrow_cast::cast(column, &target)
}

/// Widen a column from `known` to int64 if it holds narrower signed integers.
pub fn wide(column: ArrayRef) -> Result<ArrayRef, ArrowError> {
    match column.data_type() {
        DataType::Int32 => arrow_cast::cast(&column, &DataType::Int64),
        _ => Ok(column),
    }
}

/// View a column by its type; None if the type is not supported.
pub fn typed(column: &ArrayRef) -> Option<Typed<'_>> {
    Some(match column.data_type() {
        DataType::Int64 => Typed::Int(column.as_primitive::<Int64Type>()),
        DataType::Int32 => Typed::Narrow(column.as_primitive::<Int32Type>()),
        DataType::UInt64 => Typed::Uint(column.as_primitive::<UInt64Type>()),
        DataType::Float64 => Typed::Float(column.as_primitive::<Float64Type>()),
        DataType::Boolean => Typed::Bool(column.as_boolean()),
        DataType::Utf8 => Typed::Text(column.as_string::<i32>()),
        DataType::Dictionary(..) => {
            let coded = column.as_dictionary_opt::<Int32Type>()?;
            Typed::Coded(coded, coded.values().as_string_opt::<i32>()?)
        }
        DataType::Null => Typed::Nothing,
        _ => return None,
    })
}

/// Call with every value that is not null.
#[inline]
pub fn each<T: arrow_array::ArrowPrimitiveType>(
    column: &arrow_array::PrimitiveArray<T>,
    mut call: impl FnMut(T::Native),
) {
    match column.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => column.values().iter().for_each(|value| call(*value)),
        Some(nulls) => nulls.valid_indices().for_each(|row| call(column.values()[row])),
    }
}
