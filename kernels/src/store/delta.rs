//! Whole numbers -> their differences in packed bits: Parquet's DELTA_BINARY_PACKED.
//!
//! The library's encoder takes five times as long, which was a twentieth of an index.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow_schema::DataType;
use parquet::basic::Encoding;
use parquet::errors::ParquetError;
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescPtr;

use super::page::{Chunk, Encoder, Rows, Told, Whole, chunk, varint};

/// Numbers of a block, which has one least difference, and of the parts of a block, which have one width each.
const BLOCK: usize = 128;
const PART: usize = 32;

fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

/// Encodes a column; none if it has only nulls, or is not of whole numbers.
pub fn encode(
    column: &ColumnDescPtr,
    arrays: &[&ArrayRef],
    encoder: &mut Encoder,
) -> Result<Option<Chunk>, ParquetError> {
    let values = &mut encoder.numbers;
    values.clear();
    let mut rows = Rows::default();
    let range = match arrays.first().map(|array| array.data_type()) {
        Some(DataType::Int64) => gather::<Int64Type>(arrays, &mut rows, values),
        Some(DataType::UInt64) => gather::<UInt64Type>(arrays, &mut rows, values),
        _ => None,
    };
    let Some((min, max)) = range else {
        return Ok(None);
    };
    let nulls = rows.nulls as u64;
    let told = Told {
        statistics: Some(Statistics::int64(
            Some(min),
            Some(max),
            None,
            Some(nulls),
            false,
        )),
        bloom: None,
    };
    let form = (Encoding::DELTA_BINARY_PACKED, None);
    chunk(column, &rows, form, told, encoder, |page, values| {
        differences(values, page)
    })
    .map(Some)
}

/// Takes all values that are not null, as their bits; returns the least and the largest of them.
fn gather<T>(arrays: &[&ArrayRef], rows: &mut Rows, values: &mut Vec<i64>) -> Option<(i64, i64)>
where
    T: ArrowPrimitiveType,
    T::Native: Whole,
{
    let mut range: Option<(T::Native, T::Native)> = None;
    for array in arrays {
        let array = array.as_primitive::<T>();
        rows.add(array);
        let mut take = |value: T::Native| {
            let (min, max) = range.unwrap_or((value, value));
            range = Some((min.min(value), max.max(value)));
            value.bits().cast_signed()
        };
        if array.null_count() == 0 {
            values.extend(array.values().iter().map(|value| take(*value)));
        } else {
            values.extend(array.iter().flatten().map(take));
        }
    }
    range.map(|(min, max)| (min.bits().cast_signed(), max.bits().cast_signed()))
}

/// Appends numbers, which may be the bits of unsigned ones.
fn differences(values: &[i64], out: &mut Vec<u8>) {
    varint(BLOCK as u64, out);
    varint((BLOCK / PART) as u64, out);
    varint(values.len() as u64, out);
    let first = values.first().copied().unwrap_or(0);
    varint(zigzag(first), out);
    let mut above = [0; BLOCK];
    for (at, block) in values
        .get(1..)
        .unwrap_or_default()
        .chunks(BLOCK)
        .enumerate()
    {
        let before = &values[at * BLOCK..][..block.len()];
        let each = above.iter_mut().zip(block.iter().zip(before));
        let least = each.fold(i64::MAX, |least, (above, (value, before))| {
            let difference = value.wrapping_sub(*before);
            *above = difference.cast_unsigned();
            least.min(difference)
        });
        for one in &mut above[..block.len()] {
            *one = one.wrapping_sub(least.cast_unsigned());
        }
        above[block.len()..].fill(0);
        varint(zigzag(least), out);
        let widths = above.as_chunks::<PART>().0.iter();
        let widths =
            widths.map(|part| 64 - part.iter().fold(0, |all, one| all | one).leading_zeros());
        out.extend(widths.clone().map(|width| width as u8));
        for (part, width) in above.as_chunks::<PART>().0.iter().zip(widths) {
            pack(part, width, out);
        }
    }
}

/// Appends the lowest bits of numbers that have no others.
fn pack(part: &[u64; PART], width: u32, out: &mut Vec<u8>) {
    let (mut word, mut filled) = (0_u64, 0);
    for value in part {
        word |= value << filled;
        filled += width;
        if filled >= u64::BITS {
            out.extend(word.to_le_bytes());
            filled -= u64::BITS;
            word = value.unbounded_shr(width - filled);
        }
    }
    let rest = word.to_le_bytes();
    out.extend_from_slice(&rest[..filled.div_ceil(8) as usize]);
}
