//! Compute the rows of an index from the events of a chunk: ranges, dictionaries, Bloom filters, sketches, lines.

mod bins;
mod bloom;
mod chunk;
mod dimension;
mod durations;
mod file_blooms;
mod lines;
mod range;
mod sketch;
mod tally;
mod text;
mod values;
mod varint;
mod wide;

use arrow_array::RecordBatch;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

pub use bins::BINS;
use chunk::{Chunk, Summed, Wishes};
use dimension::Summary;
use durations::Durations;
use varint::Packer;

use crate::exchange::InputBatch;

/// Compression level of stored values.
const LEVEL: u32 = 6;

/// Compute statistics, as a dict, of batches of events by name, with `_ts: int64 ns`, `dur: int64 ns or absent`,
/// `dctv:line: uint32`, and other columns.
///
/// `statistics` has the columns of `chunk_statistics` (None without `summary`), `dimensions` a dict per dimension,
/// `event_ranges` category, name, packed lines and number; everything by name is omitted where there are too many.
#[pyfunction]
#[pyo3(signature = (events, dimensions, *, expected_entries=1024, false_positive_rate=0.01, summary=true))]
fn chunk_statistics<'py>(
    py: Python<'py>,
    events: Vec<(String, InputBatch)>,
    dimensions: Vec<(String, String)>,
    expected_entries: u64,
    false_positive_rate: f64,
    summary: bool,
) -> PyResult<Bound<'py, PyDict>> {
    bloom::Bloom::sized(expected_entries, false_positive_rate).map_err(PyValueError::new_err)?;
    let wishes = Wishes { dimensions, expected: expected_entries, rate: false_positive_rate, summary };
    let (mut chunk, ranges, texts) = py
        .detach(|| {
            let events: Vec<(String, RecordBatch)> = events.into_iter().map(|(name, batch)| (name, batch.0)).collect();
            let mut chunk = chunk::read(&events, &wishes)?;
            let mut summary = chunk.summary.take();
            let texts = summary.as_mut().map(|found| Texts::of(found, &mut chunk.packer));
            let ranges = summary.map_or_else(Vec::new, |found| found.lines.finish(&mut chunk.packer));
            Ok::<_, String>((chunk, ranges, texts))
        })
        .map_err(PyValueError::new_err)?;
    let result = PyDict::new(py);
    let statistics = texts.map(|texts| texts.row(py, &chunk)).transpose()?;
    result.set_item("statistics", statistics)?;
    let rows = PyList::empty(py);
    for (name, summary) in std::mem::take(&mut chunk.dimensions) {
        rows.append(row(py, &name, &summary, chunk.nulls(&summary))?)?;
    }
    result.set_item("dimensions", rows)?;
    let ranges =
        ranges.into_iter().map(|(category, name, lines, number)| (category, name, PyBytes::new(py, &lines), number));
    result.set_item("event_ranges", PyList::new(py, ranges.collect::<Vec<_>>())?)?;
    Ok(result)
}

fn row<'py>(py: Python<'py>, name: &str, summary: &Summary, nulls: u64) -> PyResult<Bound<'py, PyDict>> {
    let bytes = |blob: &Option<Vec<u8>>| blob.as_ref().map(|blob| PyBytes::new(py, blob));
    let row = PyDict::new(py);
    row.set_item("dimension", name)?;
    let distinct = summary.distinct.map_or(-1, |number| i64::try_from(number).unwrap_or(i64::MAX));
    row.set_item("distinct_count", distinct)?;
    row.set_item("null_count", nulls)?;
    row.set_item("min_value", summary.min.as_deref())?;
    row.set_item("max_value", summary.max.as_deref())?;
    row.set_item("value_type", summary.kind)?;
    row.set_item("value_counts", bytes(&summary.dictionary))?;
    let bloom = summary.bloom.as_ref();
    row.set_item("bloom_data", bloom.map(|bloom| PyBytes::new(py, &bloom.blob())))?;
    row.set_item("num_entries", bloom.map_or(0, bloom::Bloom::entries))?;
    row.set_item("value_hashes", bytes(&summary.hashes))?;
    Ok(row)
}

/// A chunk's row of `chunk_statistics`, without the columns that Python adds.
struct Texts {
    range: [Option<i64>; 3],
    total: Durations,
    sketches: Option<Vec<u8>>,
    by_name: [(&'static str, String); 6],
}

impl Texts {
    fn of(found: &mut Summed, packer: &mut Packer) -> Texts {
        let times = &found.times;
        let categories = found.lines.categories().into_iter().map(|(name, category)| {
            let mut quoted = String::new();
            text::quote(&mut quoted, category);
            (name, quoted)
        });
        Texts {
            range: [times.first, times.last, times.end],
            total: std::mem::take(&mut found.total),
            sketches: times.sketches(packer),
            by_name: [
                ("name_duration_histograms", times.by_name(Durations::short_histogram)),
                ("name_duration_sums", times.by_name(|durations| format!("\"{}\"", durations.sum))),
                ("name_duration_sum_sqs", times.by_name(|durations| format!("\"{}\"", durations.squares.text()))),
                ("name_duration_counts", times.by_name(|durations| durations.sketch.number().to_string())),
                ("name_duration_ranges", times.by_name(Durations::ends)),
                ("name_category", text::object(categories)),
            ],
        }
    }

    fn row<'py>(&self, py: Python<'py>, chunk: &Chunk) -> PyResult<Bound<'py, PyDict>> {
        let row = PyDict::new(py);
        let sketch = &self.total.sketch;
        let count = sketch.number();
        row.set_item("total_events", chunk.events)?;
        let names = ["min_timestamp_ns", "max_timestamp_ns", "max_end_ns"];
        for (name, value) in names.into_iter().zip(self.range) {
            row.set_item(name, value)?;
        }
        row.set_item("duration_sum_ns", self.total.sum.to_string())?;
        row.set_item("duration_min_ns", (count > 0).then(|| sketch.least()))?;
        row.set_item("duration_max_ns", (count > 0).then(|| sketch.most()))?;
        row.set_item("duration_count", count)?;
        let mean = match count {
            0 => 0.0,
            _ => self.total.sum as f64 / count as f64,
        };
        row.set_item("duration_mean", mean)?;
        let distances = self.total.squares.squared_distances(count, self.total.sum);
        row.set_item("duration_m2", distances)?;
        let blob = (count > 0).then(|| PyBytes::new(py, &sketch.blob()));
        row.set_item("duration_sketch", blob)?;
        row.set_item("duration_histogram", text::array(&sketch.octaves()))?;
        let sketches = self.sketches.as_ref();
        row.set_item("name_duration_sketches", sketches.map(|blob| PyBytes::new(py, blob)))?;
        for (name, text) in &self.by_name {
            row.set_item(name, text)?;
        }
        Ok(row)
    }
}

/// Pack ascending line numbers: zlib of varints, the first number, then the differences.
#[pyfunction]
fn pack_lines(py: Python<'_>, lines: Vec<u32>) -> PyResult<Bound<'_, PyBytes>> {
    if !lines.is_sorted() {
        return Err(PyValueError::new_err("the lines must be ascending"));
    }
    Ok(PyBytes::new(py, &py.detach(|| lines::packed(&lines))))
}

/// Unpack line numbers, at most `most` of them.
#[pyfunction]
fn unpack_lines(py: Python<'_>, packed: Vec<u8>, most: usize) -> PyResult<Vec<u32>> {
    py.detach(|| lines::unpack(&packed, most)).ok_or_else(|| PyValueError::new_err("these are no packed line numbers"))
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<bloom::Bloom>()?;
    m.add_class::<file_blooms::FileBlooms>()?;
    m.add_class::<sketch::Sketch>()?;
    m.add_function(wrap_pyfunction!(pack_lines, m)?)?;
    m.add_function(wrap_pyfunction!(unpack_lines, m)?)?;
    m.add_function(wrap_pyfunction!(chunk_statistics, m)?)
}
