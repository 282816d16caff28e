//! Encode partition columns of any type as dense codes shared by a kernel's inputs, and decode codes into columns.

use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int64Array, UInt32Array};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_row::{OwnedRow, RowConverter, SortField};
use arrow_schema::{ArrowError, DataType};
use arrow_select::concat::concat;
use arrow_select::take::take;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::failure::fail;

/// A code without partition.
pub const NONE: u32 = u32::MAX;

/// Small integers (CPU numbers, most thread ids) are looked up in a table of this size instead of a hash map.
const SMALL: usize = 1 << 16;

/// Numbers partitions in order of first appearance and remembers their values.
pub struct Partitions {
    names: Vec<String>,
    types: Vec<DataType>,
    keys: Vec<DataType>,
    encoder: Encoder,
    values: Vec<Vec<ArrayRef>>,
    count: usize,
}

enum Encoder {
    Nothing,
    Integer(Integers),
    Rows { converter: RowConverter, codes: FxHashMap<u64, Vec<(OwnedRow, u32)>> },
}

#[derive(Default)]
struct Integers {
    small: Vec<u32>,
    large: FxHashMap<i64, u32>,
    null: Option<u32>,
}

impl Partitions {
    /// Partitions by columns of these types; without columns there is one partition, code 0.
    pub fn new(names: &[String], types: Vec<DataType>) -> Result<Self, ArrowError> {
        let keys: Vec<DataType> = types.iter().map(key_type).collect();
        let encoder = match keys.as_slice() {
            [] => Encoder::Nothing,
            [DataType::Int64] => Encoder::Integer(Integers { small: vec![NONE; SMALL], ..Integers::default() }),
            many => Encoder::Rows {
                converter: RowConverter::new(many.iter().cloned().map(SortField::new).collect())?,
                codes: FxHashMap::default(),
            },
        };
        let count = usize::from(types.is_empty());
        let values = vec![Vec::new(); types.len()];
        Ok(Self { names: names.to_vec(), types, keys, encoder, values, count })
    }

    pub fn len(&self) -> usize {
        self.count
    }

    /// The number of partition columns.
    pub fn columns_len(&self) -> usize {
        self.types.len()
    }

    /// Fails unless columns of these types can be compared with this object's.
    pub fn check_types(&self, types: &[DataType], role: &str) -> Result<(), ArrowError> {
        for ((name, own), (found, key)) in self.names.iter().zip(&self.types).zip(types.iter().zip(&self.keys)) {
            if key_type(found) != *key {
                return Err(fail(format!("partition column `{name}` is {own}, but {found} in the {role} input")));
            }
        }
        Ok(())
    }

    /// Give each row the code of its partition.
    pub fn encode(&mut self, columns: &[ArrayRef], rows: usize) -> Result<Vec<u32>, ArrowError> {
        let keys =
            columns.iter().zip(&self.keys).map(|(column, key)| Ok::<_, ArrowError>(comparable(cast(column, key)?)));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let mut fresh = Vec::new();
        let codes = match &mut self.encoder {
            Encoder::Nothing => vec![0; rows],
            Encoder::Integer(integers) => {
                integers.encode(keys[0].as_primitive::<Int64Type>(), &mut self.count, &mut fresh)
            }
            Encoder::Rows { converter, codes } => encode_rows(converter, codes, &keys, &mut self.count, &mut fresh)?,
        };
        if self.count >= NONE as usize {
            return Err(fail("more partitions than can be numbered"));
        }
        if !fresh.is_empty() {
            let fresh = UInt32Array::from(fresh);
            for ((column, values), own) in columns.iter().zip(&mut self.values).zip(&self.types) {
                values.push(cast(&take(column, &fresh, None)?, own)?);
            }
        }
        Ok(codes)
    }

    /// Builds the partition columns of rows with these codes.
    pub fn columns(&mut self, codes: Vec<u32>) -> Result<Vec<ArrayRef>, ArrowError> {
        let codes = UInt32Array::from(codes);
        (0..self.values.len()).map(|column| take(&self.distinct(column)?, &codes, None)).collect()
    }

    /// Return the values of one column, in order of code.
    pub fn distinct(&mut self, column: usize) -> Result<ArrayRef, ArrowError> {
        let pieces = &mut self.values[column];
        if pieces.len() != 1 {
            let whole = match pieces.as_slice() {
                [] => arrow_array::new_empty_array(&self.types[column]),
                some => concat(&some.iter().map(|piece| piece.as_ref()).collect::<Vec<_>>())?,
            };
            *pieces = vec![whole];
        }
        Ok(pieces[0].clone())
    }

    /// Name a partition in an error: ` in partition cpu=3`, or nothing where there are none.
    pub fn describe(&mut self, code: u32) -> Result<String, ArrowError> {
        let mut parts = Vec::with_capacity(self.names.len());
        for column in 0..self.names.len() {
            let values = self.distinct(column)?;
            let options = FormatOptions::default().with_null("NULL");
            let text = ArrayFormatter::try_new(&values, &options)?.value(code as usize).try_to_string()?;
            parts.push(format!("{}={text}", self.names[column]));
        }
        Ok(if parts.is_empty() { String::new() } else { format!(" in partition {}", parts.join(", ")) })
    }
}

/// The type in which values are compared, so that equal values of differently stored columns meet.
fn key_type(column: &DataType) -> DataType {
    match column {
        DataType::Dictionary(_, value) => key_type(value),
        DataType::RunEndEncoded(_, values) => key_type(values.data_type()),
        DataType::Int8 | DataType::Int16 | DataType::Int32 => DataType::Int64,
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => DataType::Int64,
        DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::LargeBinary | DataType::BinaryView => DataType::Binary,
        other => other.clone(),
    }
}

/// Make equal floats equal bit by bit: both zeros, and all NaNs, as the engine compares them.
fn comparable(column: ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Float32 => Arc::new(
            column
                .as_primitive::<Float32Type>()
                .unary::<_, Float32Type>(|x| if x.is_nan() { f32::NAN } else { x + 0.0 }),
        ),
        DataType::Float64 => Arc::new(
            column
                .as_primitive::<Float64Type>()
                .unary::<_, Float64Type>(|x| if x.is_nan() { f64::NAN } else { x + 0.0 }),
        ),
        _ => column,
    }
}

impl Integers {
    fn encode(&mut self, keys: &Int64Array, count: &mut usize, fresh: &mut Vec<u32>) -> Vec<u32> {
        if keys.null_count() > 0 {
            return (0..keys.len()).map(|row| self.code(keys, row, count, fresh)).collect();
        }
        let mut codes = Vec::with_capacity(keys.len());
        for (row, &key) in keys.values().iter().enumerate() {
            let code = match usize::try_from(key).ok().and_then(|small| self.small.get(small)) {
                Some(&code) if code != NONE => code,
                _ => self.code(keys, row, count, fresh),
            };
            codes.push(code);
        }
        codes
    }

    fn code(&mut self, keys: &Int64Array, row: usize, count: &mut usize, fresh: &mut Vec<u32>) -> u32 {
        let slot = if keys.is_null(row) {
            self.null.get_or_insert(NONE)
        } else {
            let key = keys.value(row);
            match usize::try_from(key).ok().and_then(|small| self.small.get_mut(small)) {
                Some(slot) => slot,
                None => self.large.entry(key).or_insert(NONE),
            }
        };
        if *slot == NONE {
            *slot = *count as u32;
            *count += 1;
            fresh.push(row as u32);
        }
        *slot
    }
}

fn encode_rows(
    converter: &RowConverter,
    codes: &mut FxHashMap<u64, Vec<(OwnedRow, u32)>>,
    keys: &[ArrayRef],
    count: &mut usize,
    fresh: &mut Vec<u32>,
) -> Result<Vec<u32>, ArrowError> {
    let rows = converter.convert_columns(keys)?;
    let hash = |data: &[u8]| {
        let mut hasher = FxBuildHasher.build_hasher();
        hasher.write(data);
        hasher.finish()
    };
    let mut result = Vec::with_capacity(rows.num_rows());
    for (number, row) in rows.iter().enumerate() {
        let bucket = codes.entry(hash(row.as_ref())).or_default();
        let code = match bucket.iter().find(|(known, _)| known.row() == row) {
            Some((_, code)) => *code,
            None => {
                let code = *count as u32;
                *count += 1;
                fresh.push(number as u32);
                bucket.push((row.owned(), code));
                code
            }
        };
        result.push(code);
    }
    Ok(result)
}
