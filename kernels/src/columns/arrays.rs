//! Convert strings into Arrow arrays.

use std::sync::Arc;

use arrow_array::{ArrayRef, DictionaryArray, Int32Array, StringArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;

use super::strings::{Interner, Strings};

/// Codes of texts in `distinct` as an array, with a dictionary where that pays.
pub fn coded_array(
    codes: Vec<i32>,
    nulls: Option<NullBuffer>,
    distinct: Interner,
    invalid: &mut usize,
) -> Result<ArrayRef, ArrowError> {
    if distinct.len() * 2 > codes.len() {
        let mut texts = Strings::default();
        codes.iter().for_each(|code| texts.push(distinct.get_or_empty(*code as usize)));
        return Ok(Arc::new(string_array(texts, nulls, invalid)?));
    }
    let bad: Vec<bool> = distinct.iter().map(|value| std::str::from_utf8(value).is_err()).collect();
    if bad.contains(&true) {
        let valid = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        *invalid += codes.iter().enumerate().filter(|(row, code)| bad[**code as usize] && valid(*row)).count();
    }
    let dictionary = string_array(distinct.into_values(), None, &mut 0)?;
    let keys = Int32Array::try_new(ScalarBuffer::from(codes), nulls)?;
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(dictionary))?))
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
