//! Assemble the pages of one column into the bytes of its part of a row group, and its entry in the file's directory.

use std::borrow::Cow;
use std::io;

use arrow_array::{Array, ArrowPrimitiveType, PrimitiveArray};
use arrow_buffer::BooleanBufferBuilder;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::bloom_filter::Sbbf;
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

/// Integers of 64 bits, in their own order.
pub trait Whole: Copy + Ord {
    /// Exclusive or with this turns their bits into signed numbers with the same order and differences.
    const SHIFT: i64;

    fn bits(self) -> u64;
}

impl Whole for i64 {
    const SHIFT: i64 = 0;

    #[inline]
    fn bits(self) -> u64 {
        self.cast_unsigned()
    }
}

impl Whole for u64 {
    const SHIFT: i64 = i64::MIN;

    #[inline]
    fn bits(self) -> u64 {
        self
    }
}

/// Compression level of all columns of a file.
pub const LEVEL: i32 = 1;

/// Buffers of the encoding of one column, reused for the next one.
pub struct Encoder {
    codec: zstd::bulk::Compressor<'static>,
    page: Vec<u8>,
    /// The values of an integer column.
    pub numbers: Vec<i64>,
}

impl Encoder {
    pub fn new() -> io::Result<Encoder> {
        Ok(Encoder { codec: zstd::bulk::Compressor::new(LEVEL)?, page: Vec::new(), numbers: Vec::new() })
    }
}

/// A column's part of a row group.
pub struct Chunk {
    pub bytes: Vec<u8>,
    pub close: ColumnCloseResult,
}

/// The number of rows of a column, and their validity.
#[derive(Default)]
pub struct Rows {
    pub number: usize,
    pub nulls: usize,
    valid: Option<BooleanBufferBuilder>,
}

impl Rows {
    /// Take the rows of an array.
    pub fn add(&mut self, array: &dyn Array) {
        let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        match (nulls, &mut self.valid) {
            (None, None) => (),
            (None, Some(valid)) => valid.append_n(array.len(), true),
            (Some(nulls), valid) => {
                let rows = self.number;
                let valid = valid.get_or_insert_with(|| {
                    let mut valid = BooleanBufferBuilder::new(rows);
                    valid.append_n(rows, true);
                    valid
                });
                valid.append_buffer(nulls.inner());
                self.nulls += nulls.null_count();
            }
        }
        self.number += array.len();
    }

    /// The validity of rows, as Parquet's definition levels: their size in bytes, then a run or bits.
    fn levels(&self, out: &mut Vec<u8>) {
        let mut levels = Vec::new();
        match &self.valid {
            Some(valid) => {
                let bits = valid.as_slice().get(..self.number.div_ceil(8));
                let bits = bits.unwrap_or_default();
                varint((bits.len() as u64) << 1 | 1, &mut levels);
                levels.extend_from_slice(bits);
            }
            None => {
                varint((self.number as u64) << 1, &mut levels);
                levels.push(1);
            }
        }
        out.extend((levels.len() as u32).to_le_bytes());
        out.append(&mut levels);
    }
}

pub fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The distinct values of a column, one after the other, and their number.
#[derive(Default)]
pub struct Dictionary {
    pub bytes: Vec<u8>,
    pub len: usize,
}

/// The entry of a column in the directory of the file, besides its pages.
#[derive(Default)]
pub struct ColumnMetadata {
    pub statistics: Option<Statistics>,
    pub bloom: Option<Sbbf>,
}

impl ColumnMetadata {
    /// The bits of the minimum and the maximum of integers.
    pub fn of_numbers((min, max): (i64, i64), nulls: usize) -> ColumnMetadata {
        let statistics = Statistics::int64(Some(min), Some(max), None, Some(nulls as u64), false);
        ColumnMetadata { statistics: Some(statistics), bloom: None }
    }
}

/// The values of an array that are not null.
pub fn valid<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>) -> Cow<'_, [T::Native]> {
    let values = array.values();
    match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => Cow::Borrowed(values),
        Some(nulls) => {
            let mut known = Vec::with_capacity(values.len() - nulls.null_count());
            known.extend(nulls.valid_indices().map(|row| values[row]));
            Cow::Owned(known)
        }
    }
}

/// One page of values, after a page of the dictionary if they are codes.
///
/// `write` appends the encoded values of the rows that are not null, and returns their statistics; it gets the
/// encoder's numbers.
pub fn chunk(
    column: &ColumnDescPtr,
    rows: &Rows,
    (encoding, dictionary): (Encoding, Option<Dictionary>),
    encoder: &mut Encoder,
    write: impl FnOnce(&mut Vec<u8>, &[i64]) -> ColumnMetadata,
) -> Result<Chunk, ParquetError> {
    let Encoder { codec, page, numbers } = encoder;
    page.clear();
    if column.max_def_level() > 0 {
        rows.levels(page);
    }
    let column_metadata = write(page, numbers);
    let mut packed = |bytes: &[u8]| codec.compress(bytes).map(Bytes::from);
    let mut sink = TrackedWrite::new(Vec::new());
    let mut writer = SerializedPageWriter::new(&mut sink);
    let mut whole = 0;
    let mut encodings = vec![Encoding::RLE, encoding];
    let coded = dictionary.is_some();
    if let Some(dictionary) = dictionary {
        let plain = dictionary.bytes.len();
        let values = Page::DictionaryPage {
            buf: packed(&dictionary.bytes)?,
            num_values: dictionary.len as u32,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        whole += writer.write_page(CompressedPage::new(values, plain))?.uncompressed_size;
        encodings.insert(0, Encoding::PLAIN);
    }
    let values = writer.write_page(CompressedPage::new(
        Page::DataPage {
            buf: packed(page)?,
            num_values: rows.number as u32,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        },
        page.len(),
    ))?;
    whole += values.uncompressed_size;
    let bytes = sink.into_inner()?;
    let mut metadata = ColumnChunkMetaData::builder(column.clone())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
        .set_encodings(encodings)
        .set_num_values(rows.number as i64)
        .set_total_compressed_size(bytes.len() as i64)
        .set_total_uncompressed_size(whole as i64)
        .set_dictionary_page_offset(coded.then_some(0))
        .set_data_page_offset(values.offset as i64);
    if let Some(statistics) = column_metadata.statistics {
        metadata = metadata.set_statistics(statistics);
    }
    let close = ColumnCloseResult {
        bytes_written: bytes.len() as u64,
        rows_written: rows.number as u64,
        metadata: metadata.build()?,
        bloom_filter: column_metadata.bloom,
        column_index: None,
        offset_index: None,
    };
    Ok(Chunk { bytes, close })
}
