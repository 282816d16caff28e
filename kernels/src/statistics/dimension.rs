//! Summarize the values of one dimension in a chunk: its row of `chunk_dimension_stats`, Bloom filter and value hashes.

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, ArrowNativeTypeOp, ArrowPrimitiveType, DictionaryArray, PrimitiveArray, StringArray,
};
use arrow_schema::ArrowError;
use rustc_hash::FxHashMap;

use super::LEVEL;
use super::bloom::{Bloom, fnv1a};
use super::range::{Range, kind};
use super::tally::{Bits, Tally};
use super::text::float;
use super::values::{Typed, each, typed};
use super::varint::Packer;

/// Maximum number of distinct values that are counted, and of bytes of their texts.
const MOST_VALUES: usize = 1 << 17;
const MOST_BYTES: usize = 16 << 20;
/// Maximum compressed size of a dictionary, and the raw size from which compression is not tried.
const MOST_BLOB: usize = 4096;
const MOST_RAW: usize = 256 << 10;

/// Collects the values of one dimension.
#[derive(Default)]
pub struct Dimension {
    valid: u64,
    ints: Tally,
    uints: Tally,
    floats: Tally,
    bools: [u64; 2],
    texts: FxHashMap<Vec<u8>, u64>,
    bytes: usize,
    range: Range,
    /// Values are not counted, only their range is.
    range_only: bool,
}

/// The state of a dimension at the end of a chunk.
pub struct Summary {
    /// None if values were not counted.
    pub distinct: Option<u64>,
    pub valid: u64,
    pub min: Option<String>,
    pub max: Option<String>,
    pub kind: &'static str,
    pub dictionary: Option<Vec<u8>>,
    pub bloom: Option<Bloom>,
    pub hashes: Option<Vec<u8>>,
}

impl Dimension {
    /// A dimension of integers within a range, which are not counted.
    pub fn between(valid: u64, ends: Option<(i64, i64)>) -> Dimension {
        let mut range = Range::default();
        if let Some((min, max)) = ends {
            range.whole(min.into(), max.into());
        }
        Dimension { valid, range, range_only: true, ..Dimension::default() }
    }

    /// Add the same text `count` times.
    pub fn add_text(&mut self, text: &str, count: u64) {
        self.valid += count;
        self.count_text(text.as_bytes(), count);
    }

    /// Add a column, as returned by `values::supported`; false if its type is not supported for dimensions.
    pub fn add(&mut self, column: &ArrayRef) -> Result<bool, ArrowError> {
        let Some(values) = typed(column) else {
            return Ok(false);
        };
        if matches!(values, Typed::Nothing) {
            return Ok(true);
        }
        self.valid += (column.len() - column.null_count()) as u64;
        let counts = !self.range_only;
        match values {
            Typed::Int(values) => self.add_whole(values, |dimension| &mut dimension.ints),
            Typed::Narrow(values) => self.add_whole(values, |dimension| &mut dimension.ints),
            Typed::Uint(values) => self.add_whole(values, |dimension| &mut dimension.uints),
            Typed::Float(values) => each(values, |value| {
                self.range.float(value);
                if counts {
                    self.floats.add(plain(value).to_bits());
                }
            }),
            Typed::Bool(values) => {
                let yes = values.true_count();
                self.bools[1] += yes as u64;
                self.bools[0] += (values.len() - values.null_count() - yes) as u64;
            }
            Typed::Text(values) => self.add_texts(values),
            Typed::Coded(coded, texts) => self.add_coded(coded, texts),
            Typed::Nothing => (),
        }
        self.keep_small();
        Ok(true)
    }

    /// Add integers, which this tally counts by their 64 bits.
    fn add_whole<T>(&mut self, values: &PrimitiveArray<T>, tally: impl Fn(&mut Dimension) -> &mut Tally)
    where
        T: ArrowPrimitiveType<Native: Bits>,
    {
        let (mut min, mut max) = (T::Native::MAX_TOTAL_ORDER, T::Native::MIN_TOTAL_ORDER);
        each(values, |value| {
            min = if value < min { value } else { min };
            max = if value > max { value } else { max };
        });
        self.range.whole(min.into(), max.into());
        if !self.range_only {
            tally(self).count(values, (min, max));
        }
    }

    fn add_texts(&mut self, values: &StringArray) {
        let mut last = (0, 0);
        for row in (0..values.len()).filter(|row| values.is_valid(*row)) {
            let same = last.1 > 0 && values.value(last.0) == values.value(row);
            if same {
                last.1 += 1;
                continue;
            }
            if last.1 > 0 {
                self.count_text(values.value(last.0).as_bytes(), last.1);
            }
            last = (row, 1);
        }
        if last.1 > 0 {
            self.count_text(values.value(last.0).as_bytes(), last.1);
        }
    }

    fn add_coded(&mut self, coded: &DictionaryArray<Int32Type>, texts: &StringArray) {
        if texts.len() > 2 * coded.len() {
            let mut tally = Tally::default();
            each(coded.keys(), |key| tally.add(key as u64));
            for (key, count) in tally.settle() {
                self.add_code(texts, *key as usize, *count);
            }
            return;
        }
        let mut counts = vec![0u64; texts.len()];
        each(coded.keys(), |key| {
            if let Some(count) = counts.get_mut(key as usize) {
                *count += 1;
            }
        });
        for (key, count) in counts.into_iter().enumerate() {
            if count > 0 {
                self.add_code(texts, key, count);
            }
        }
    }

    fn add_code(&mut self, texts: &StringArray, key: usize, count: u64) {
        if key < texts.len() && texts.is_valid(key) {
            self.count_text(texts.value(key).as_bytes(), count);
        } else {
            self.valid = self.valid.saturating_sub(count);
        }
    }

    fn count_text(&mut self, text: &[u8], count: u64) {
        if self.range_only {
            self.range.text(text);
        } else if let Some(number) = self.texts.get_mut(text) {
            *number += count;
        } else {
            self.range.text(text);
            self.bytes += text.len();
            self.texts.insert(text.to_vec(), count);
        }
    }

    /// Stop counting if there are too many values.
    fn keep_small(&mut self) {
        let values =
            self.texts.len() + self.ints.settle().len() + self.uints.settle().len() + self.floats.settle().len();
        if values > MOST_VALUES || self.bytes > MOST_BYTES {
            self.range_only = true;
            self.texts = FxHashMap::default();
            [&mut self.ints, &mut self.uints, &mut self.floats].into_iter().for_each(|tally| *tally = Tally::default());
        }
    }

    /// Finish the chunk.
    pub fn finish(mut self, expected: u64, rate: f64, packer: &mut Packer) -> Result<Summary, &'static str> {
        for (text, count) in ["false", "true"].into_iter().zip(self.bools) {
            if count > 0 {
                self.range.flag(text);
            }
        }
        let valid = self.valid;
        let kind = kind(&self.range);
        let range = std::mem::take(&mut self.range).texts();
        let (min, max) = range.map_or((None, None), |(min, max)| (Some(min), Some(max)));
        let mut summary =
            Summary { distinct: None, valid, min, max, kind, dictionary: None, bloom: None, hashes: None };
        if valid == 0 {
            summary.distinct = Some(0);
        }
        if self.range_only {
            return Ok(summary);
        }
        let mut values = self.values();
        summary.distinct = Some(values.len() as u64);
        summary.dictionary = dictionary(&mut values, packer);
        let hashes: Vec<u64> = values.iter().map(|(text, _)| fnv1a(text)).collect();
        if !values.is_empty() {
            let mut bloom = Bloom::sized(expected.max(values.len() as u64), rate)?;
            hashes.iter().for_each(|hash| bloom.add_hash(*hash));
            summary.bloom = Some(bloom);
        }
        summary.hashes = Some(hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect());
        Ok(summary)
    }

    /// All values as texts, each once, with their counts.
    fn values(mut self) -> Vec<(Vec<u8>, u64)> {
        let texts = std::mem::take(&mut self.texts);
        let mut kinds = usize::from(!texts.is_empty());
        let mut all: Vec<(Vec<u8>, u64)> = texts.into_iter().collect();
        let mut put = |text: String, count: u64| all.push((text.into_bytes(), count));
        let tallies = [&mut self.ints, &mut self.uints, &mut self.floats];
        let texts: [fn(u64) -> String; 3] =
            [|bits| (bits as i64).to_string(), |bits| bits.to_string(), |bits| float(f64::from_bits(bits))];
        for (tally, text) in tallies.into_iter().zip(texts) {
            let counts = tally.settle();
            kinds += usize::from(!counts.is_empty());
            counts.iter().for_each(|(bits, n)| put(text(*bits), *n));
        }
        for (text, count) in ["false", "true"].into_iter().zip(self.bools) {
            if count > 0 {
                kinds += 1;
                put(text.to_owned(), count);
            }
        }
        if kinds > 1 {
            // Different types may have the same text.
            all.sort_unstable();
            all.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                kept.1 += if same { next.1 } else { 0 };
                same
            });
        }
        all
    }
}

/// Normalize a float: one value for all NaNs, and one for both zeros.
fn plain(value: f64) -> f64 {
    if value.is_nan() {
        f64::NAN
    } else {
        // Turns negative zero into positive zero.
        value + 0.0
    }
}

/// Sort values and pack them; None, with values possibly unsorted, if that takes too much space.
fn dictionary(values: &mut [(Vec<u8>, u64)], packer: &mut Packer) -> Option<Vec<u8>> {
    let size: usize = values.iter().map(|(text, _)| text.len() + 10).sum();
    if size > MOST_RAW {
        return None;
    }
    values.sort_unstable();
    let mut raw = Vec::with_capacity(size + 4);
    raw.extend(u32::try_from(values.len()).ok()?.to_le_bytes());
    for (text, count) in &*values {
        raw.extend(u16::try_from(text.len()).ok()?.to_le_bytes());
        raw.extend(text);
        raw.extend(count.to_le_bytes());
    }
    packer.pack(&raw, LEVEL, MOST_BLOB)
}
