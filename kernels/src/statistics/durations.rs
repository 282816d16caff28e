//! Compute the figures of a chunk's row of `chunk_statistics` from the times and durations of its events.

use std::collections::BTreeMap;

use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, Int64Array, PrimitiveArray};

use super::LEVEL;
use super::bins::BINS;
use super::sketch::Sketch;
use super::text::{array, object};
use super::values::{Typed, each, typed};
use super::varint::Packer;
use super::wide::Wide;

/// Durations of the events of one name, or of all events.
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

/// A running sum of durations.
struct Running {
    counts: Vec<u64>,
    min: u64,
    max: u64,
    sum: u128,
    squares: Wide,
}

impl Running {
    fn new() -> Running {
        Running { counts: vec![0; BINS.count()], min: u64::MAX, max: 0, sum: 0, squares: Wide::default() }
    }

    /// Add durations.
    fn add(&mut self, some: &Durations) {
        some.sketch.count_into(&mut self.counts);
        self.min = self.min.min(some.sketch.least());
        self.max = self.max.max(some.sketch.most());
        self.sum += some.sum;
        self.squares.merge(some.squares);
    }

    /// Return the sum, if there is one, and reset.
    fn take(&mut self) -> Durations {
        if self.min > self.max {
            return Durations::default();
        }
        let durations = Durations {
            sketch: Sketch::take(&mut self.counts, self.min, self.max),
            sum: self.sum,
            squares: self.squares,
        };
        (self.min, self.max) = (u64::MAX, 0);
        (self.sum, self.squares) = (0, Wide::default());
        durations
    }
}

/// Times and durations of a chunk.
pub struct Times {
    pub first: Option<i64>,
    pub last: Option<i64>,
    pub end: Option<i64>,
    /// The number of times.
    pub number: u64,
    /// None if there are too many.
    names: Option<BTreeMap<String, Durations>>,
    /// The durations of the batch being added.
    batch: Running,
    all: Running,
}

impl Times {
    pub fn new() -> Times {
        Times {
            first: None,
            last: None,
            end: None,
            number: 0,
            names: Some(BTreeMap::new()),
            batch: Running::new(),
            all: Running::new(),
        }
    }

    /// Add events of one name.
    pub fn add(&mut self, name: &str, ts: &ArrayRef, dur: Option<&ArrayRef>) -> Result<(), &'static str> {
        let Some(Typed::Int(ts)) = typed(ts) else {
            return Err("the column `_ts` must be int64");
        };
        let durations = match dur.map(typed) {
            None | Some(Some(Typed::Nothing)) => {
                self.add_range::<Int64Type>(ts, None);
                None
            }
            Some(Some(Typed::Int(dur))) => self.add_both(ts, dur)?,
            Some(Some(Typed::Narrow(dur))) => self.add_both(ts, dur)?,
            _ => return Err("the column `dur` must be int64"),
        };
        let Some(durations) = durations else {
            return Ok(());
        };
        self.all.add(&durations);
        match self.names.as_mut() {
            None => Ok(()),
            Some(names) => match names.get_mut(name) {
                Some(known) => known.merge(&durations),
                None => {
                    names.insert(name.to_owned(), durations);
                    Ok(())
                }
            },
        }
    }

    /// Add times with durations; return a summary of these, if there are any.
    fn add_both<T>(&mut self, ts: &Int64Array, dur: &PrimitiveArray<T>) -> Result<Option<Durations>, &'static str>
    where
        T: ArrowPrimitiveType<Native: Into<i64>>,
    {
        self.add_range(ts, Some(dur));
        if dur.null_count() == dur.len() {
            return Ok(None);
        }
        let durations = self.measure(dur).ok_or("a duration is negative")?;
        Ok(Some(durations))
    }

    /// Stop keeping statistics by name.
    pub fn forget_names(&mut self) {
        self.names = None;
    }

    fn add_range<T>(&mut self, ts: &Int64Array, dur: Option<&PrimitiveArray<T>>)
    where
        T: ArrowPrimitiveType<Native: Into<i64>>,
    {
        let (mut first, mut last, mut end) = (i64::MAX, i64::MIN, i64::MIN);
        let nulls = ts.null_count() + dur.map_or(0, |dur| dur.null_count());
        match dur {
            Some(dur) if nulls == 0 => {
                for (ts, dur) in ts.values().iter().zip(dur.values()) {
                    (first, last) = (first.min(*ts), last.max(*ts));
                    end = end.max(ts.saturating_add((*dur).into()));
                }
            }
            _ => {
                each(ts, |value| {
                    (first, last) = (first.min(value), last.max(value));
                });
                let ends = dur.iter().flat_map(|dur| ts.iter().zip(dur.iter()));
                let ends = ends.filter_map(|(ts, dur)| Some(ts?.saturating_add(dur?.into())));
                end = ends.fold(end, i64::max);
            }
        }
        if first > last {
            return;
        }
        end = end.max(last);
        self.number += (ts.len() - ts.null_count()) as u64;
        self.first = Some(self.first.map_or(first, |known| known.min(first)));
        self.last = Some(self.last.map_or(last, |known| known.max(last)));
        self.end = Some(self.end.map_or(end, |known| known.max(end)));
    }

    /// None if a duration is negative.
    fn measure<T>(&mut self, dur: &PrimitiveArray<T>) -> Option<Durations>
    where
        T: ArrowPrimitiveType<Native: Into<i64>>,
    {
        let bins = &*BINS;
        let counts = self.batch.counts.as_mut_slice();
        let (mut min, mut max) = (i64::MAX, i64::MIN);
        let (mut sum, mut small, mut squares) = (0, 0, Wide::default());
        each(dur, |value| {
            let value: i64 = value.into();
            (min, max) = (min.min(value), max.max(value));
            // A negative one is detected by the minimum.
            let value = value.unsigned_abs();
            counts[bins.of(value)] += 1;
            sum += u128::from(value);
            if value <= u64::from(u32::MAX) {
                small += u128::from(value * value);
            } else {
                squares.add_square(value);
            }
        });
        squares.add(small, 0);
        (self.batch.sum, self.batch.squares) = (sum, squares);
        self.batch.min = u64::try_from(min).ok()?;
        self.batch.max = u64::try_from(max).ok()?;
        Some(self.batch.take())
    }

    /// The minimum and maximum time.
    pub fn range(&self) -> Option<(i64, i64)> {
        self.first.zip(self.last)
    }

    /// Return the durations of all events, once.
    pub fn total(&mut self) -> Durations {
        self.all.take()
    }

    /// A JSON object of texts by name.
    pub fn by_name(&self, text: impl Fn(&Durations) -> String) -> String {
        object(self.names.iter().flatten().map(|(name, durations)| (name.as_str(), text(durations))))
    }

    /// zlib of `u32 n, n x {u32 key_len, key, u32 blob_len, sketch}`, little-endian, in the order of the names.
    ///
    /// None if nothing is stored by name.
    pub fn sketches(&self, packer: &mut Packer) -> Option<Vec<u8>> {
        let names = self.names.as_ref()?;
        let size = |size: usize| u32::try_from(size).ok().map(u32::to_le_bytes);
        let mut raw = size(names.len())?.to_vec();
        for (name, durations) in names {
            raw.extend(size(name.len())?);
            raw.extend(name.as_bytes());
            let blob = durations.sketch.blob();
            raw.extend(size(blob.len())?);
            raw.extend(blob);
        }
        packer.pack(&raw, LEVEL, usize::MAX)
    }
}

impl Durations {
    /// The minimum and the maximum.
    pub fn range(&self) -> Option<(i64, i64)> {
        let ends = (self.sketch.least(), self.sketch.most());
        let ends = (ends.0.cast_signed(), ends.1.cast_signed());
        (self.sketch.number() > 0).then_some(ends)
    }

    /// The minimum and the maximum as a JSON array.
    pub fn ends(&self) -> String {
        array(&[self.sketch.least(), self.sketch.most()])
    }

    /// The log2 histogram as a JSON array, up to its last nonempty bin.
    pub fn short_histogram(&self) -> String {
        let octaves = self.sketch.octaves();
        let used = octaves.iter().rposition(|number| *number > 0);
        array(&octaves[..used.map_or(0, |last| last + 1)])
    }
}
