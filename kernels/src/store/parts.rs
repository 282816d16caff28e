//! The directory of a Parquet file -> its parts, one behind the other: each column of each row group, and what is between.

use parquet::file::metadata::ParquetMetaData;

/// Stands for the column of parts that belong to none.
const REST: i64 = -1;

/// Column, offset and bytes of each part of a file.
pub fn places(metadata: &ParquetMetaData, size: u64) -> Vec<(i64, u64, u64)> {
    let mut chunks: Vec<(u64, u64, i64)> = Vec::new();
    for group in metadata.row_groups() {
        let columns = group.columns().iter().zip(0_i64..);
        chunks.extend(columns.map(|(column, number)| {
            let (offset, bytes) = column.byte_range();
            (offset, bytes, number)
        }));
    }
    chunks.retain(|(_, bytes, _)| *bytes > 0);
    chunks.sort_unstable();
    let mut places = Vec::with_capacity(chunks.len() + 2);
    let mut at = 0;
    for (offset, bytes, number) in chunks {
        if offset > at {
            places.push((REST, at, offset - at));
        }
        places.push((number, offset, bytes));
        at = offset + bytes;
    }
    places.push((REST, at, size.saturating_sub(at)));
    places
}
