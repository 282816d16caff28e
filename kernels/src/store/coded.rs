//! A column of few distinct values -> the bytes of its chunk in a row group: a dictionary, and one page of codes.
//!
//! Spools know texts by number, and most whole numbers of a trace are small, so codes are found by tables instead of by
//! hashing each value, which is what the library must do.

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

use super::page::{Chunk, Dictionary, Encoder, Rows, Told, Whole, chunk, varint};

/// From so many distinct values on, or bytes of them, a column is not coded.
const MOST: usize = 1 << 15;
const MOST_BYTES: usize = 1 << 20;
/// Numbers of a smaller range have a table of codes.
const MOST_RANGE: u64 = 1 << 17;
/// Texts in statistics are no longer.
const MOST_SHOWN: usize = 64;
const NONE: u32 = u32::MAX;
/// What is kept of a column's values beside them.
#[derive(Clone, Copy)]
pub struct Kept {
    pub statistics: bool,
    /// The rate of false positives of its Bloom filter, if it gets one.
    pub bloom: Option<f64>,
}

/// The codes of the rows that are not null, and which rows those are.
#[derive(Default)]
struct Codes {
    codes: Vec<u32>,
    rows: Rows,
}

impl Dictionary {
    /// The code of a new value; none if there are too many.
    fn add(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Option<u32> {
        if self.len >= MOST || self.bytes.len() >= MOST_BYTES {
            return None;
        }
        write(&mut self.bytes);
        self.len += 1;
        u32::try_from(self.len - 1).ok()
    }
}

/// Encodes a column; none if it has too many values, only nulls, or a type that is not coded.
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
        DataType::Dictionary(key, value)
            if **key == DataType::Int32 && **value == DataType::Utf8 =>
        {
            texts(arrays, kept)?
        }
        _ => None,
    };
    let Some((codes, dictionary, told)) = made.filter(|made| made.1.len > 0) else {
        return Ok(None);
    };
    let width = usize::BITS - (dictionary.len - 1).leading_zeros();
    let form = (Encoding::RLE_DICTIONARY, Some(dictionary));
    chunk(column, &codes.rows, form, told, encoder, |page, _| {
        written(&codes.codes, width, page);
    })
    .map(Some)
}

type Made = (Codes, Dictionary, Told);

fn numbers<T>(arrays: &[&ArrayRef], kept: Kept) -> Option<Made>
where
    T: ArrowPrimitiveType,
    T::Native: Whole,
{
    let typed: Vec<_> = arrays
        .iter()
        .map(|array| array.as_primitive::<T>())
        .collect();
    let ranges = typed.iter().filter_map(|array| {
        let values = array.values();
        if array.null_count() > 0 {
            let mut valid = array.iter().flatten();
            let first = valid.next()?;
            return Some(valid.fold((first, first), |(min, max), v| (min.min(v), max.max(v))));
        }
        let first = *values.first()?;
        Some(
            values
                .iter()
                .fold((first, first), |(min, max), v| (min.min(*v), max.max(*v))),
        )
    });
    let (min, max) = ranges.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))?;
    let range = max.bits().wrapping_sub(min.bits());
    let mut codes = Codes::default();
    let mut dictionary = Dictionary::default();
    if range < MOST_RANGE {
        let mut known = vec![NONE; range as usize + 1];
        let place = |value: T::Native| value.bits().wrapping_sub(min.bits()) as usize;
        let mut learn = |place: usize| {
            let value = min.bits().wrapping_add(place as u64);
            dictionary.add(|bytes| bytes.extend(value.to_le_bytes()))
        };
        for array in typed {
            codes.rows.add(array);
            if array.null_count() == 0 {
                let places = array.values().iter().map(|value| place(*value));
                look_up(places, &mut known, &mut codes.codes, &mut learn)?;
            } else {
                let places = array.iter().flatten().map(place);
                look_up(places, &mut known, &mut codes.codes, &mut learn)?;
            }
        }
    } else {
        let mut known: HashMap<u64, u32, rustc_hash::FxBuildHasher> = HashMap::default();
        for array in typed {
            codes.rows.add(array);
            for value in array.iter().flatten().map(Whole::bits) {
                let code = match known.get(&value) {
                    Some(code) => *code,
                    None => {
                        let code = dictionary.add(|bytes| bytes.extend(value.to_le_bytes()))?;
                        known.insert(value, code);
                        code
                    }
                };
                codes.codes.push(code);
            }
        }
    }
    let nulls = codes.rows.nulls as u64;
    let (min, max) = (min.bits().cast_signed(), max.bits().cast_signed());
    let statistics = kept
        .statistics
        .then(|| Statistics::int64(Some(min), Some(max), None, Some(nulls), false));
    let told = Told {
        statistics,
        bloom: None,
    };
    Some((codes, dictionary, told))
}

/// Appends the codes that a table has in some places; those that it lacks are learnt. None if there are too many.
fn look_up(
    places: impl Iterator<Item = usize> + Clone,
    known: &mut [u32],
    codes: &mut Vec<u32>,
    learn: &mut impl FnMut(usize) -> Option<u32>,
) -> Option<()> {
    let before = codes.len();
    let found = places.clone();
    codes.extend(found.map(|place| known.get(place).copied().unwrap_or(NONE)));
    let new = codes.get_mut(before..)?;
    if !new.contains(&NONE) {
        return Some(());
    }
    for (code, place) in new.iter_mut().zip(places) {
        let known = known.get_mut(place)?;
        if *known == NONE {
            *known = learn(place)?;
        }
        *code = *known;
    }
    Some(())
}

fn texts(arrays: &[&ArrayRef], kept: Kept) -> Result<Option<Made>, ParquetError> {
    let mut codes = Codes::default();
    let mut dictionary = Dictionary::default();
    let mut distinct: HashMap<&str, u32> = HashMap::new();
    let mut known: Vec<u32> = Vec::new();
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
        let keys = array.keys();
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
        let done = if keys.null_count() == 0 && values.null_count() == 0 {
            let places = keys.values().iter().map(|key| *key as usize);
            look_up(places, &mut known, &mut codes.codes, &mut learn)
        } else {
            let places = keys.iter().flatten().map(|key| key as usize);
            let places = places.filter(|place| values.is_valid(*place));
            look_up(places, &mut known, &mut codes.codes, &mut learn)
        };
        if done.is_none() {
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
    let statistics = kept
        .statistics
        .then(|| Statistics::byte_array(shown(ends.0), shown(ends.1), None, Some(nulls), false));
    Ok(Some((codes, dictionary, Told { statistics, bloom })))
}

/// The width of codes, then a run of the same one or all of them.
fn written(codes: &[u32], width: u32, page: &mut Vec<u8>) {
    if width == 0 {
        page.push(1);
        varint((codes.len() as u64) << 1, page);
        page.push(0);
    } else {
        page.push(width as u8);
        packed(codes, width, page);
    }
}

/// Numbers below `2^width`, one behind the other, in groups of eight.
fn packed(codes: &[u32], width: u32, out: &mut Vec<u8>) {
    let groups = codes.len().div_ceil(8);
    varint((groups as u64) << 1 | 1, out);
    let end = out.len() + groups * width as usize;
    out.reserve(end - out.len() + 8);
    let (mut word, mut filled) = (0_u64, 0_u32);
    for code in codes {
        word |= u64::from(*code) << filled;
        filled += width;
        if filled >= 32 {
            out.extend((word as u32).to_le_bytes());
            word >>= 32;
            filled -= 32;
        }
    }
    out.extend(word.to_le_bytes());
    out.resize(end, 0);
}
