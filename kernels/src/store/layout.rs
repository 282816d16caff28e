//! Choose the encodings of the columns of a Parquet file by the first rows of the table.

use std::hash::Hash;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;
use rustc_hash::FxHashSet;

use super::coded::Kept;
use super::page::LEVEL;

/// Rows of a row group: the unit of work of the engine's threads.
pub const GROUP_ROWS: usize = 122_880;
/// Options of a file.
#[derive(Clone, Copy)]
pub struct Form {
    /// Whether its first column is ascending.
    pub ascending: bool,
    pub group_rows: usize,
}

/// Bytes of rows in memory that end a row group early.
pub const GROUP_BYTES: usize = 64 << 20;
/// Maximum bytes of a page: a column of a row group is mostly one page, since pages are never skipped.
const PAGE_BYTES: usize = 8 << 20;
/// Number of rows in the sample that decides the encoding of a column.
const SAMPLE: usize = 1024;
/// Minimum number of distinct texts for a Bloom filter to pay: the dictionary of fewer is as fast to scan.
const BLOOM_FROM: usize = 64;
const FALSE_POSITIVES: f64 = 0.05;
/// Columns with values that hardly repeat, but differ little from row to row.
const TIMES: [&str; 2] = ["_ts", "_duration"];

fn distinct<T: Hash + Eq>(values: impl Iterator<Item = T>) -> usize {
    values.take(SAMPLE).collect::<FxHashSet<T>>().len()
}

/// The number of distinct values in a sample of a column, with null as one.
fn variety(column: &ArrayRef) -> usize {
    match column.data_type() {
        DataType::Int64 => distinct(column.as_primitive::<Int64Type>().iter()),
        DataType::UInt64 => distinct(column.as_primitive::<UInt64Type>().iter()),
        DataType::Utf8 => distinct(column.as_string::<i32>().iter()),
        DataType::Dictionary(key, _) if **key == DataType::Int32 => {
            distinct(column.as_dictionary::<Int32Type>().keys().iter())
        }
        DataType::Boolean => distinct(column.as_boolean().iter()),
        _ => column.len().min(SAMPLE),
    }
}

/// Whether all texts of a column are known, and so few that each occurs in many rows, even if a sample has many.
fn has_small_dictionary(column: &ArrayRef) -> bool {
    let dictionary = column.as_any_dictionary_opt();
    dictionary.is_some_and(|dictionary| dictionary.values().len() * 3 <= column.len())
}

/// Whether the texts of a column look like JSON objects, which are not searched for as a whole.
fn has_objects(column: &ArrayRef) -> bool {
    let texts = column.as_string_opt::<i32>();
    texts.is_some_and(|texts| {
        let mut sample = texts.iter().flatten().take(SAMPLE);
        sample.all(|text| text.starts_with('{'))
    })
}

/// The number of values to size a Bloom filter of a row group for.
fn room(column: &ArrayRef) -> u64 {
    let values = match column.data_type() {
        DataType::Dictionary(..) => column.as_any_dictionary().values().len(),
        _ => GROUP_ROWS,
    };
    values.clamp(1, GROUP_ROWS) as u64
}

/// The encodings of the columns of a file.
pub struct Layout {
    pub properties: Arc<WriterProperties>,
    /// For each column its options if it is coded while it has few values.
    pub coded: Vec<Option<Kept>>,
}

fn column_layout(
    builder: WriterPropertiesBuilder,
    name: &str,
    column: &ArrayRef,
) -> (WriterPropertiesBuilder, Option<Kept>) {
    let path = || ColumnPath::new(vec![name.to_owned()]);
    let kind = column.data_type();
    let is_text = matches!(kind, DataType::Utf8 | DataType::Dictionary(..));
    let values = variety(column);
    let many = is_text && values >= BLOOM_FROM;
    // Those of floats leave NaN out, which engines that trust them then do not find.
    let statistics = !kind.is_floating() && (!is_text || many);
    let kept = Kept { statistics, bloom: (many && !has_objects(column)).then_some(FALSE_POSITIVES) };
    let sample = column.len().min(SAMPLE);
    let few = !TIMES.contains(&name) && (values * 3 <= sample || has_small_dictionary(column));
    let mut builder = builder;
    if few {
        builder = builder.set_column_dictionary_enabled(path(), true);
    }
    if let Some(rate) = kept.bloom {
        builder = builder
            .set_column_bloom_filter_enabled(path(), true)
            .set_column_bloom_filter_fpp(path(), rate)
            .set_column_bloom_filter_max_ndv(path(), room(column));
    }
    let level = if kept.statistics { EnabledStatistics::Chunk } else { EnabledStatistics::None };
    let builder = builder.set_column_statistics_enabled(path(), level);
    (builder, few.then_some(kept))
}

/// The layout of a file with these first rows.
pub fn layout(first: &RecordBatch, form: Form) -> Result<Layout, ParquetError> {
    let order = form.ascending.then(|| vec![SortingColumn { column_idx: 0, descending: false, nulls_first: false }]);
    let mut builder = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_data_page_size_limit(PAGE_BYTES)
        .set_data_page_row_count_limit(GROUP_ROWS)
        .set_write_batch_size(GROUP_ROWS)
        .set_sorting_columns(order);
    let mut coded = Vec::with_capacity(first.num_columns());
    for (field, column) in first.schema_ref().fields().iter().zip(first.columns()) {
        let kept;
        (builder, kept) = column_layout(builder, field.name(), column);
        coded.push(kept);
    }
    Ok(Layout { properties: Arc::new(builder.build()), coded })
}
