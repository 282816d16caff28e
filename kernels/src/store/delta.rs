//! Whole numbers -> their differences in packed bits: Parquet's DELTA_BINARY_PACKED.
//!
//! The library's encoder takes ten times as long, which was a twentieth of an index.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{ArrayRef, ArrowPrimitiveType};
use arrow_schema::DataType;
use parquet::basic::Encoding;
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescPtr;

use super::bits::{PART, pack};
use super::page::{Chunk, Encoder, Rows, Told, Whole, chunk, valid, varint};

/// Numbers of a block, which has one least difference, and parts of one width each.
const BLOCK: usize = 128;

fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

/// Encodes a column; none if it has only nulls, or is not of whole numbers.
pub fn encode(
    column: &ColumnDescPtr,
    arrays: &[&ArrayRef],
    encoder: &mut Encoder,
) -> Result<Option<Chunk>, ParquetError> {
    let mut rows = Rows::default();
    let values = &mut encoder.numbers;
    values.clear();
    let shift = match arrays.first().map(|array| array.data_type()) {
        Some(DataType::Int64) => gather::<Int64Type>(arrays, &mut rows, values),
        Some(DataType::UInt64) => gather::<UInt64Type>(arrays, &mut rows, values),
        _ => 0,
    };
    if values.is_empty() {
        return Ok(None);
    }
    let form = (Encoding::DELTA_BINARY_PACKED, None);
    chunk(column, &rows, form, encoder, |page, values| {
        let range = differences(values, shift, page);
        Told::of_numbers(range, rows.nulls)
    })
    .map(Some)
}

/// Takes all values that are not null, as numbers of the same order; returns by what these differ from their bits.
fn gather<T>(arrays: &[&ArrayRef], rows: &mut Rows, values: &mut Vec<i64>) -> i64
where
    T: ArrowPrimitiveType,
    T::Native: Whole,
{
    for array in arrays {
        let array = array.as_primitive::<T>();
        rows.add(array);
        let known = valid(array);
        values.extend(known.iter().map(|one| one.bits().cast_signed() ^ T::Native::SHIFT));
    }
    T::Native::SHIFT
}

/// Appends the numbers that differ by `shift` from these; returns the bits of the least and the largest.
fn differences(values: &[i64], shift: i64, out: &mut Vec<u8>) -> (i64, i64) {
    let first = values.first().copied().unwrap_or(0);
    varint(BLOCK as u64, out);
    varint((BLOCK / PART) as u64, out);
    varint(values.len() as u64, out);
    varint(zigzag(first ^ shift), out);
    let (mut min, mut max, mut before) = (first, first, first);
    let mut above = [0; BLOCK];
    for block in values.get(1..).unwrap_or_default().chunks(BLOCK) {
        let mut least = i64::MAX;
        // All in one loop: of one extreme alone the compiler makes vectors, whose comparisons cost thrice as much.
        for (above, value) in above.iter_mut().zip(block) {
            let difference = value.wrapping_sub(before);
            before = *value;
            *above = difference.cast_unsigned();
            least = least.min(difference);
            min = min.min(*value);
            max = max.max(*value);
        }
        above[..block.len()].iter_mut().for_each(|one| *one = one.wrapping_sub(least.cast_unsigned()));
        above[block.len()..].fill(0);
        varint(zigzag(least), out);
        let parts = above.as_chunks::<PART>().0;
        let mut widths = [0; BLOCK / PART];
        for (width, part) in widths.iter_mut().zip(parts) {
            *width = 64 - part.iter().fold(0, |all, one| all | one).leading_zeros();
        }
        out.extend(widths.map(|width| width as u8));
        for (part, width) in parts.iter().zip(widths) {
            pack(part, width, out);
        }
    }
    (min ^ shift, max ^ shift)
}
