//! List the consecutive parts of a Parquet file by its directory: each column of each row group, and the bytes between.

use std::path::Path;

use parquet::file::metadata::ParquetMetaData;
use pyo3::PyResult;
use zlib_rs::crc32::crc32_combine;

/// The column of parts that belong to none.
const REST: i64 = -1;

/// Column, offset and bytes of a part, and its CRC-32 if that is known.
struct Part {
    column: i64,
    at: u64,
    bytes: u64,
    sum: Option<u32>,
}

/// Column, bytes and CRC-32 of each part of a file; and the CRC-32 of the whole file.
pub type FileParts = (Vec<(i64, u64, u32)>, u32);

/// The parts of a file, in order of row groups, with the known CRC-32 of some columns.
fn parts(metadata: &ParquetMetaData, sums: &[Option<u32>], size: u64) -> Vec<Part> {
    let groups = metadata.row_groups().iter();
    let columns = groups.flat_map(|group| group.columns().iter().zip(0..));
    let mut columns: Vec<Part> = columns
        .zip(sums)
        .map(|((column, number), sum)| {
            let (at, bytes) = column.byte_range();
            Part { column: number, at, bytes, sum: *sum }
        })
        .collect();
    columns.retain(|part| part.bytes > 0);
    columns.sort_unstable_by_key(|part| part.at);
    let mut parts = Vec::with_capacity(columns.len() + 2);
    let mut at = 0;
    let rest = |at: u64, end: u64| Part { column: REST, at, bytes: end.saturating_sub(at), sum: None };
    for column in columns {
        if column.at > at {
            parts.push(rest(at, column.at));
        }
        at = column.at + column.bytes;
        parts.push(column);
    }
    parts.push(rest(at, size));
    parts
}

/// Read the parts of a file without a known CRC-32, which are few.
pub fn file_parts(path: &Path, metadata: &ParquetMetaData, sums: &[Option<u32>]) -> PyResult<FileParts> {
    let parts = parts(metadata, sums, std::fs::metadata(path)?.len());
    let unknown = parts.iter().filter(|part| part.sum.is_none());
    let unknown: Vec<(u64, u64)> = unknown.map(|part| (part.at, part.bytes)).collect();
    let mut found = crate::sorter::checksums(path, &unknown)?.into_iter();
    let parts = parts.into_iter().map(|part| {
        let sum = part.sum.or_else(|| found.next()).unwrap_or_default();
        (part.column, part.bytes, sum)
    });
    let parts: Vec<(i64, u64, u32)> = parts.collect();
    let whole = parts.iter().fold(0, |whole, (_, bytes, sum)| crc32_combine(whole, *sum, *bytes));
    Ok((parts, whole))
}
