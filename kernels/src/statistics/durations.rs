//! Times and durations of a chunk's events -> the figures of its row of `chunk_statistics`.

use std::collections::BTreeMap;

use arrow_array::{Array, ArrayRef, Int64Array};

use super::bins::BINS;
use super::sketch::Sketch;
use super::text::{array, object};
use super::values::{Typed, each, typed};
use super::varint::zlib;
use super::wide::Wide;

/// Durations of the events of one name, or of all.
#[derive(Clone, Default)]
pub struct Durations {
    pub sketch: Sketch,
    pub sum: u128,
    pub squares: Wide,
}

impl Durations {
    fn merge(&mut self, other: &Durations) -> Result<(), &'static str> {
        self.sketch.absorb(&other.sketch)?;
        self.sum += other.sum;
        self.squares.merge(other.squares);
        Ok(())
    }
}

/// Times and durations of a chunk.
#[derive(Default)]
pub struct Times {
    pub first: Option<i64>,
    pub last: Option<i64>,
    pub end: Option<i64>,
    names: BTreeMap<String, Durations>,
    counts: Vec<u64>,
}

impl Times {
    /// Add events of one name.
    pub fn add(
        &mut self,
        name: &str,
        ts: &ArrayRef,
        dur: Option<&ArrayRef>,
    ) -> Result<(), &'static str> {
        let Some(Typed::Int(ts)) = typed(ts) else {
            return Err("the column `_ts` must be int64");
        };
        let dur = match dur.map(typed) {
            None | Some(Some(Typed::Nothing)) => None,
            Some(Some(Typed::Int(dur))) => Some(dur),
            _ => return Err("the column `dur` must be int64"),
        };
        self.add_range(ts, dur);
        let Some(dur) = dur.filter(|dur| dur.null_count() < dur.len()) else {
            return Ok(());
        };
        let durations = self.measure(dur).ok_or("a duration is negative")?;
        match self.names.get_mut(name) {
            Some(known) => known.merge(&durations),
            None => {
                self.names.insert(name.to_owned(), durations);
                Ok(())
            }
        }
    }

    fn add_range(&mut self, ts: &Int64Array, dur: Option<&Int64Array>) {
        let (mut first, mut last) = (i64::MAX, i64::MIN);
        each(ts, |value| {
            (first, last) = (first.min(value), last.max(value));
        });
        if first > last {
            return;
        }
        let mut end = last;
        if let Some(dur) = dur {
            let nulls = ts.null_count() + dur.null_count() > 0;
            for row in 0..ts.len().min(dur.len()) {
                if !nulls || (ts.is_valid(row) && dur.is_valid(row)) {
                    end = end.max(ts.values()[row].saturating_add(dur.values()[row]));
                }
            }
        }
        self.first = Some(self.first.map_or(first, |known| known.min(first)));
        self.last = Some(self.last.map_or(last, |known| known.max(last)));
        self.end = Some(self.end.map_or(end, |known| known.max(end)));
    }

    /// None if a duration is negative.
    fn measure(&mut self, dur: &Int64Array) -> Option<Durations> {
        let bins = &*BINS;
        self.counts.resize(bins.count(), 0);
        let counts = &mut self.counts;
        let (mut sum, mut squares) = (0u128, Wide::default());
        let (mut min, mut max) = (i64::MAX, i64::MIN);
        each(dur, |value| {
            (min, max) = (min.min(value), max.max(value));
            // A negative one is found by the minimum.
            let value = value.unsigned_abs();
            counts[bins.of(value)] += 1;
            sum += u128::from(value);
            squares.add_square(value);
        });
        let (min, max) = (u64::try_from(min).ok()?, u64::try_from(max).ok()?);
        Some(Durations {
            sketch: Sketch::take(counts, min, max),
            sum,
            squares,
        })
    }

    /// The durations of all events.
    pub fn total(&self) -> Result<Durations, &'static str> {
        let mut total = Durations::default();
        for durations in self.names.values() {
            total.merge(durations)?;
        }
        Ok(total)
    }

    /// A JSON object of the names' texts.
    pub fn by_name(&self, text: impl Fn(&Durations) -> String) -> String {
        object(
            self.names
                .iter()
                .map(|(name, durations)| (name.as_str(), text(durations))),
        )
    }

    /// zlib of `u32 n, n x {u32 key_len, key, u32 blob_len, sketch}`, little-endian, in the order of the names.
    pub fn sketches(&self) -> Option<Vec<u8>> {
        let size = |size: usize| u32::try_from(size).ok().map(u32::to_le_bytes);
        let mut raw = size(self.names.len())?.to_vec();
        for (name, durations) in &self.names {
            raw.extend(size(name.len())?);
            raw.extend(name.as_bytes());
            let blob = durations.sketch.blob();
            raw.extend(size(blob.len())?);
            raw.extend(blob);
        }
        zlib(&raw, 6, usize::MAX)
    }
}

impl Durations {
    /// Smallest and largest as a JSON array.
    pub fn ends(&self) -> String {
        array(&[self.sketch.least(), self.sketch.most()])
    }

    /// The log2 histogram as a JSON array, up to its last bin that is not empty.
    pub fn short_histogram(&self) -> String {
        let octaves = self.sketch.octaves();
        let used = octaves.iter().rposition(|number| *number > 0);
        array(&octaves[..used.map_or(0, |last| last + 1)])
    }
}
