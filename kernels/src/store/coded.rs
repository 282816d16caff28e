//! Encode a column of few distinct values as its chunk in a row group: a dictionary, and one page of codes.
//!
//! The sorter numbers texts, and most integers of a trace are small, so codes are found in tables instead of by hashing
//! each value, as the library must do.

use std::borrow::Cow;
use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, StringArray};
use arrow_schema::DataType;
use parquet::basic::Encoding;
use parquet::bloom_filter::Sbbf;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescPtr;

use super::bits::{PART, pack_short};
use super::page::{Chunk, ColumnMetadata, Dictionary, Encoder, Rows, Whole, chunk, valid, varint};

/// A column with at least this many distinct values, or bytes of them, is not coded.
const MOST: usize = 1 << 15;
const MOST_BYTES: usize = 1 << 20;
/// Numbers with a smaller range have a table of codes.
const MOST_RANGE: u64 = 1 << 17;
/// Maximum length of texts in statistics.
const MOST_SHOWN: usize = 64;
/// Means no code: the bit that no code has.
const NONE: u16 = MOST as u16;
/// Values that are looked up at once; they are looked up again only if one of them is new.
const PIECE: usize = 512;

/// The further data to store about a column's values.
#[derive(Clone, Copy)]
pub struct Kept {
    pub statistics: bool,
    /// The rate of false positives of its Bloom filter, if it gets one.
    pub bloom: Option<f64>,
}

/// The codes of the rows that are not null, and the validity of all rows.
struct Codes {
    codes: Vec<u16>,
    rows: Rows,
}

impl Codes {
    fn with_room(arrays: &[&ArrayRef]) -> Codes {
        let rows = arrays.iter().map(|array| array.len()).sum();
        Codes { codes: Vec::with_capacity(rows), rows: Rows::default() }
    }
}

impl Dictionary {
    /// The code of a new value; none if there are too many.
    fn add(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Option<u16> {
        if self.len >= MOST || self.bytes.len() >= MOST_BYTES {
            return None;
        }
        write(&mut self.bytes);
        self.len += 1;
        u16::try_from(self.len - 1).ok()
    }
}

/// Encode a column; none if it has too many values, only nulls, or a type that is not coded.
pub fn encode(
    column: &ColumnDescPtr,
    arrays: &[&ArrayRef],
    kept: Kept,
    encoder: &mut Encoder,
) -> Result<Option<Chunk>, ParquetError> {
    let Some(first) = arrays.first() else {
        return Ok(None);
    };
    let made = match first.data_type() {
        DataType::Int64 => numbers::<Int64Type>(arrays, kept),
        DataType::UInt64 => numbers::<UInt64Type>(arrays, kept),
        DataType::Dictionary(key, value) if **key == DataType::Int32 && **value == DataType::Utf8 => {
            texts(arrays, kept)?
        }
        _ => None,
    };
    let Some((codes, dictionary, column_metadata)) = made.filter(|made| made.1.len > 0) else {
        return Ok(None);
    };
    let width = usize::BITS - (dictionary.len - 1).leading_zeros();
    let form = (Encoding::RLE_DICTIONARY, Some(dictionary));
    chunk(column, &codes.rows, form, encoder, |page, _| {
        written(&codes.codes, width, page);
        column_metadata
    })
    .map(Some)
}

type Made = (Codes, Dictionary, ColumnMetadata);
type CodeTable<K> = HashMap<K, u16, rustc_hash::FxBuildHasher>;

/// The minimum and maximum of some numbers.
fn range<T: Copy + Ord>(values: &[T]) -> Option<(T, T)> {
    let first = *values.first()?;
    let (pairs, rest) = values.as_chunks::<2>();
    let last = *rest.last().unwrap_or(&first);
    let ends = (first.min(last), first.max(last));
    Some(pairs.iter().fold(ends, |(min, max), [one, other]| {
        let (low, high) = if one < other { (one, other) } else { (other, one) };
        (min.min(*low), max.max(*high))
    }))
}

fn numbers<T>(arrays: &[&ArrayRef], kept: Kept) -> Option<Made>
where
    T: ArrowPrimitiveType,
    T::Native: Whole,
{
    let mut codes = Codes::with_room(arrays);
    let mut parts: Vec<Cow<[T::Native]>> = Vec::with_capacity(arrays.len());
    for array in arrays {
        let array = array.as_primitive::<T>();
        codes.rows.add(array);
        parts.push(valid(array));
    }
    let ranges = parts.iter().filter_map(|values| range(values));
    let (min, max) = ranges.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))?;
    let range = max.bits().wrapping_sub(min.bits());
    let mut dictionary = Dictionary::default();
    let mut add = |value: u64| dictionary.add(|bytes| bytes.extend(value.to_le_bytes()));
    if range < MOST_RANGE {
        let mut known = vec![NONE; range as usize + 1];
        let place = |value: &T::Native| value.bits().wrapping_sub(min.bits()) as usize;
        let mut learn = |place: usize| add(min.bits().wrapping_add(place as u64));
        for values in parts {
            look_up(&values, place, &mut known, &mut codes.codes, &mut learn)?;
        }
    } else {
        let mut known = CodeTable::<u64>::default();
        for value in parts.iter().flat_map(|values| values.iter()) {
            let value = value.bits();
            let code = match known.get(&value) {
                Some(code) => *code,
                None => {
                    let code = add(value)?;
                    known.insert(value, code);
                    code
                }
            };
            codes.codes.push(code);
        }
    }
    let column_metadata = match kept.statistics {
        true => {
            let ends = (min.bits().cast_signed(), max.bits().cast_signed());
            ColumnMetadata::of_numbers(ends, codes.rows.nulls)
        }
        false => ColumnMetadata::default(),
    };
    Some((codes, dictionary, column_metadata))
}

/// Append the codes of values by a table; missing ones are added. None if there are too many.
fn look_up<T: PartialEq>(
    values: &[T],
    place: impl Fn(&T) -> usize,
    known: &mut [u16],
    codes: &mut Vec<u16>,
    learn: &mut impl FnMut(usize) -> Option<u16>,
) -> Option<()> {
    for values in values.chunks(PIECE) {
        let before = codes.len();
        let is_run = values.iter().all(|value| *value == values[0]);
        let some = if is_run { &values[..1] } else { values };
        let found = some.iter().map(|value| known.get(place(value)));
        codes.extend(found.map(|code| code.copied().unwrap_or(NONE)));
        let new = codes.get_mut(before..)?;
        if new.iter().fold(0, |all, code| all | code) >= NONE {
            for (code, value) in new.iter_mut().zip(some) {
                let place = place(value);
                let known = known.get_mut(place)?;
                if *known == NONE {
                    *known = learn(place)?;
                }
                *code = *known;
            }
        }
        let last = *new.last()?;
        codes.resize(before + values.len(), last);
    }
    Some(())
}

fn texts(arrays: &[&ArrayRef], kept: Kept) -> Result<Option<Made>, ParquetError> {
    let mut codes = Codes::with_room(arrays);
    let mut dictionary = Dictionary::default();
    let mut distinct = CodeTable::<&str>::default();
    let mut known: Vec<u16> = Vec::new();
    let mut last: Option<&StringArray> = None;
    for array in arrays {
        let array = array.as_dictionary::<Int32Type>();
        let values = array.values().as_string::<i32>();
        if last.is_none_or(|last| !last.to_data().ptr_eq(&values.to_data())) {
            known.clear();
            known.resize(values.len(), NONE);
            last = Some(values);
        }
        codes.rows.add(array);
        let mut keys = valid(array.keys());
        if values.null_count() > 0 {
            keys.to_mut().retain(|key| values.is_valid(*key as usize));
        }
        let mut learn = |place: usize| {
            let text = values.value(place);
            if let Some(code) = distinct.get(text) {
                return Some(*code);
            }
            let code = dictionary.add(|bytes| {
                bytes.extend((text.len() as u32).to_le_bytes());
                bytes.extend_from_slice(text.as_bytes());
            })?;
            distinct.insert(text, code);
            Some(code)
        };
        let place = |key: &i32| *key as usize;
        if look_up(&keys, place, &mut known, &mut codes.codes, &mut learn).is_none() {
            return Ok(None);
        }
    }
    let bloom = match kept.bloom {
        None => None,
        Some(rate) => {
            let mut bloom = Sbbf::new_with_ndv_fpp(distinct.len().max(1) as u64, rate)?;
            distinct.keys().for_each(|text| bloom.insert(*text));
            Some(bloom)
        }
    };
    let ends = (distinct.keys().min(), distinct.keys().max());
    let shown = |text: Option<&&str>| {
        let text = text.filter(|text| text.len() <= MOST_SHOWN);
        text.map(|text| ByteArray::from(*text))
    };
    let nulls = codes.rows.nulls as u64;
    let statistics =
        kept.statistics.then(|| Statistics::byte_array(shown(ends.0), shown(ends.1), None, Some(nulls), false));
    Ok(Some((codes, dictionary, ColumnMetadata { statistics, bloom })))
}

/// Write the width of codes, then one run if they are all equal, or all of them.
fn written(codes: &[u16], width: u32, page: &mut Vec<u8>) {
    if width == 0 {
        page.push(1);
        varint((codes.len() as u64) << 1, page);
        page.push(0);
    } else {
        page.push(width as u8);
        packed(codes, width, page);
    }
}

/// Numbers below `2^width`, one after the other, in groups of eight.
fn packed(codes: &[u16], width: u32, out: &mut Vec<u8>) {
    let groups = codes.len().div_ceil(8);
    varint((groups as u64) << 1 | 1, out);
    let end = out.len() + groups * width as usize;
    let (parts, rest) = codes.as_chunks::<PART>();
    parts.iter().for_each(|part| pack_short(part, width, out));
    let mut last = [0; PART];
    last[..rest.len()].copy_from_slice(rest);
    pack_short(&last, width, out);
    out.truncate(end);
}
