//! The chunks of one table, built apart, into batches of one schema.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, RecordBatchOptions,
    StringArray, UInt64Array,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};

use super::column::{Column, Kind, Traits, Values};
use super::strings::{Interner, Strings};
use super::table::TableBuilder;

/// Give the chunks of one table the same columns and types; a column's type is the one that holds its values in all chunks.
///
/// Returns one batch per chunk, in order, and how many texts were not UTF-8. All batches share the dictionaries of their
/// columns. The result does not depend on how rows were cut into chunks, but for the order of columns, which is the order
/// of first appearance. All chunks must have the same fixed columns.
pub fn unify(chunks: Vec<TableBuilder>) -> Result<(Vec<RecordBatch>, usize), ArrowError> {
    let Some(first) = chunks.first() else {
        return Ok((Vec::new(), 0));
    };
    let mut names: Vec<String> = first.fixed().iter().map(|name| (*name).to_owned()).collect();
    let fixed = names.len();
    let mut keys = Interner::default();
    for key in chunks.iter().flat_map(|chunk| chunk.keys.iter()) {
        keys.intern(key);
    }
    names.extend(keys.iter().map(|key| String::from_utf8_lossy(key).into_owned()));

    let rows: Vec<usize> = chunks.iter().map(TableBuilder::rows).collect();
    let mut parts: Vec<Vec<Column>> = names.iter().map(|_| Vec::with_capacity(chunks.len())).collect();
    for chunk in chunks {
        for column in &mut parts {
            column.push(Column::new());
        }
        let rows = chunk.rows();
        for (index, mut column) in chunk.columns.into_iter().enumerate() {
            column.pad(rows);
            let place = match index.checked_sub(fixed) {
                None => index,
                Some(keyed) => fixed + keys.find(chunk.keys.get(keyed)).unwrap_or_default(),
            };
            if let Some(last) = parts[place].last_mut() {
                *last = column;
            }
        }
    }
    let mut invalid = 0;
    let mut arrays: Vec<Vec<ArrayRef>> = Vec::with_capacity(names.len());
    for column in parts {
        arrays.push(finish_column(column, &rows, &mut invalid)?);
    }
    Ok((batches(&names, arrays, &rows)?, invalid))
}

/// Numbers of texts in an interner, and which of them are null.
pub type Coded = (Vec<i32>, Option<NullBuffer>);

fn batches(names: &[String], columns: Vec<Vec<ArrayRef>>, rows: &[usize]) -> Result<Vec<RecordBatch>, ArrowError> {
    let fields: Vec<Field> = names
        .iter()
        .zip(&columns)
        .filter_map(|(name, arrays)| Some(Field::new(name, arrays.first()?.data_type().clone(), true)))
        .collect();
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
    rows.iter()
        .map(|rows| {
            let arrays = columns.iter_mut().filter_map(Iterator::next).collect();
            let options = RecordBatchOptions::new().with_row_count(Some(*rows));
            RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options)
        })
        .collect()
}

fn finish_column(mut parts: Vec<Column>, rows: &[usize], invalid: &mut usize) -> Result<Vec<ArrayRef>, ArrowError> {
    let none = Traits { kind: Kind::Empty, negative: false, inexact: false };
    let kind = match parts.iter().fold(none, |mixed, part| mixed.with(part.traits())).kind {
        Kind::Empty => Kind::Text,
        kind => kind,
    };
    for (part, rows) in parts.iter_mut().zip(rows) {
        part.promote(kind);
        part.pad(*rows);
    }
    if kind == Kind::Text && parts.iter().all(|part| matches!(part.values, Values::Coded(..))) {
        return finish_coded(parts, invalid);
    }
    parts.into_iter().map(|mut part| finish_array(part.values, part.nulls.finish(), invalid)).collect()
}

fn finish_array(values: Values, nulls: Option<NullBuffer>, invalid: &mut usize) -> Result<ArrayRef, ArrowError> {
    Ok(match values {
        Values::Int(v) => Arc::new(Int64Array::try_new(ScalarBuffer::from(v), nulls)?),
        Values::Uint(v) => Arc::new(UInt64Array::try_new(ScalarBuffer::from(v), nulls)?),
        Values::Float(v, _) => Arc::new(Float64Array::try_new(ScalarBuffer::from(v), nulls)?),
        Values::Bool(v) => Arc::new(BooleanArray::new(v.into(), nulls)),
        text => Arc::new(string_array(text.into_texts(), nulls, invalid)?),
    })
}

fn finish_coded(parts: Vec<Column>, invalid: &mut usize) -> Result<Vec<ArrayRef>, ArrowError> {
    let mut all = Interner::default();
    let mut coded = Vec::with_capacity(parts.len());
    for mut part in parts {
        if let Values::Coded(mut codes, distinct) = part.values {
            let new: Vec<i32> = distinct.iter().map(|value| all.intern(value) as i32).collect();
            for code in &mut codes {
                *code = new.get(*code as usize).copied().unwrap_or(0);
            }
            coded.push((codes, part.nulls.finish()));
        }
    }
    coded_arrays(coded, all, invalid)
}

/// The numbers of texts of one column in `distinct`, chunk by chunk, as arrays that share one dictionary where that pays.
pub fn coded_arrays(coded: Vec<Coded>, distinct: Interner, invalid: &mut usize) -> Result<Vec<ArrayRef>, ArrowError> {
    let rows: usize = coded.iter().map(|(codes, _)| codes.len()).sum();
    if distinct.len() * 2 > rows || distinct.len() > i32::MAX as usize {
        let plain = |(codes, nulls): Coded| {
            let mut texts = Strings::default();
            codes.iter().for_each(|code| texts.push(distinct.get_or_empty(*code as usize)));
            Ok(Arc::new(string_array(texts, nulls, invalid)?) as ArrayRef)
        };
        return coded.into_iter().map(plain).collect();
    }
    let bad: Vec<bool> = distinct.iter().map(|value| std::str::from_utf8(value).is_err()).collect();
    if bad.contains(&true) {
        for (codes, nulls) in &coded {
            let valid = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
            *invalid += codes.iter().enumerate().filter(|(row, code)| bad[**code as usize] && valid(*row)).count();
        }
    }
    let dictionary: ArrayRef = Arc::new(string_array(distinct.into_values(), None, &mut 0)?);
    let array = |(codes, nulls)| {
        let keys = Int32Array::try_new(ScalarBuffer::from(codes), nulls)?;
        Ok(Arc::new(DictionaryArray::try_new(keys, Arc::clone(&dictionary))?) as ArrayRef)
    };
    coded.into_iter().map(array).collect()
}

pub fn string_array(texts: Strings, nulls: Option<NullBuffer>, invalid: &mut usize) -> Result<StringArray, ArrowError> {
    let valid = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
    let is_bad = |(row, value): &(usize, &[u8])| std::str::from_utf8(value).is_err() && valid(*row);
    let clean = texts.is_ascii() || texts.iter().all(|value| std::str::from_utf8(value).is_ok());
    if !clean {
        *invalid += texts.iter().enumerate().filter(is_bad).count();
        let mut lossy = Strings::default();
        texts.iter().for_each(|value| lossy.push(String::from_utf8_lossy(value).as_bytes()));
        return string_array(lossy, nulls, &mut 0);
    }
    let (ends, data) = texts.into_parts();
    let mut offsets = Vec::with_capacity(ends.len() + 1);
    offsets.push(0_i32);
    for end in ends {
        offsets.push(i32::try_from(end).map_err(|_| ArrowError::OffsetOverflowError(end))?);
    }
    StringArray::try_new(OffsetBuffer::new(ScalarBuffer::from(offsets)), Buffer::from_vec(data), nulls)
}
