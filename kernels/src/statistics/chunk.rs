//! Compute all data that an index stores about the events of a chunk.

use arrow_array::{Array, ArrayRef, RecordBatch};

use super::dimension::{Dimension, Summary};
use super::durations::{Durations, Times};
use super::lines::Lines;
use super::values::{supported, wide};
use super::varint::Packer;

const TS: &str = "_ts";
const DUR: &str = "dur";
const CAT: &str = "cat";
const LINE: &str = "dctv:line";

/// Number of categories and names from which nothing is stored by name: it would be large for so few events of each.
const MOST_GROUPS: usize = 1024;

/// What to compute for a chunk.
pub struct Wishes {
    /// Dimensions and their columns.
    pub dimensions: Vec<(String, String)>,
    pub expected: u64,
    pub rate: f64,
    /// Whether to include times, durations, lines and the dimensions `name`, `ts` and `dur`.
    pub summary: bool,
}

/// The results for a chunk.
pub struct Chunk {
    pub events: u64,
    pub dimensions: Vec<(String, Summary)>,
    pub summary: Option<Summed>,
    /// Compresses the stored values.
    pub packer: Packer,
}

/// Times, durations and lines of all events.
pub struct Summed {
    pub total: Durations,
    pub times: Times,
    pub lines: Lines,
}

pub fn read(events: &[(String, RecordBatch)], wishes: &Wishes) -> Result<Chunk, String> {
    let number = events.iter().map(|(_, batch)| batch.num_rows() as u64).sum();
    let mut packer = Packer::new();
    let mut dimensions: Vec<(String, Summary)> = Vec::new();
    let mut add = |name: &str, values: Dimension| {
        let summary = values.finish(wishes.expected, wishes.rate, &mut packer)?;
        dimensions.push((name.to_owned(), summary));
        Ok::<_, String>(())
    };
    let mut built_in: &[&str] = &[];
    let mut summary = None;
    if wishes.summary {
        let found = summarize(events)?;
        let times = (found.times.number, found.times.range());
        let durations = (found.total.sketch.number(), found.total.range());
        add("name", names(events))?;
        add("ts", Dimension::between(times.0, times.1))?;
        add("dur", Dimension::between(durations.0, durations.1))?;
        built_in = &["name", "ts", "dur"];
        summary = Some(found);
    }
    for (place, (dimension, column)) in wishes.dimensions.iter().enumerate() {
        let mut before = wishes.dimensions[..place].iter();
        if built_in.contains(&dimension.as_str()) || before.any(|(known, _)| known == dimension) {
            continue;
        }
        let values = match dimension.as_str() {
            "name" => names(events),
            _ => column_of(events, column)?,
        };
        add(dimension, values)?;
    }
    Ok(Chunk { events: number, dimensions, summary, packer })
}

fn names(events: &[(String, RecordBatch)]) -> Dimension {
    let mut values = Dimension::default();
    for (name, batch) in events.iter().filter(|(_, batch)| batch.num_rows() > 0) {
        values.add_text(name, batch.num_rows() as u64);
    }
    values
}

fn column_of(events: &[(String, RecordBatch)], column: &str) -> Result<Dimension, String> {
    let mut values = Dimension::default();
    for (name, batch) in events {
        let Some(array) = find(name, batch, column)? else {
            continue;
        };
        let is_one = values.add(&array).map_err(|error| error.to_string())?;
        if !is_one {
            return Err(format!(
                "the column `{column}` of `{name}` is {}, which is no type of a dimension",
                array.data_type()
            ));
        }
    }
    Ok(values)
}

fn find(name: &str, batch: &RecordBatch, column: &str) -> Result<Option<ArrayRef>, String> {
    batch
        .column_by_name(column)
        .map(|array| supported(array).map_err(|error| format!("`{column}` of `{name}`: {error}")))
        .transpose()
}

fn summarize(events: &[(String, RecordBatch)]) -> Result<Summed, String> {
    let (mut times, mut lines) = (Times::new(), Lines::default());
    for (name, batch) in events.iter().filter(|(_, batch)| batch.num_rows() > 0) {
        let of = |message: &str| format!("{message} (in `{name}`)");
        let ts = find(name, batch, TS)?.ok_or_else(|| of("there is no column `_ts`"))?;
        let ts = wide(ts).map_err(|error| of(&error.to_string()))?;
        let dur = find(name, batch, DUR)?;
        times.add(name, &ts, dur.as_ref()).map_err(of)?;
        let numbers = batch.column_by_name(LINE).ok_or_else(|| of("there is no column `dctv:line`"))?;
        let category = find(name, batch, CAT)?;
        lines.add(name, category.as_ref(), numbers).map_err(of)?;
    }
    if lines.number() > MOST_GROUPS {
        times.forget_names();
        lines = Lines::default();
    }
    Ok(Summed { total: times.total(), times, lines })
}

impl Chunk {
    /// The number of events without a value of a dimension.
    pub fn nulls(&self, summary: &Summary) -> u64 {
        self.events.saturating_sub(summary.valid)
    }
}
