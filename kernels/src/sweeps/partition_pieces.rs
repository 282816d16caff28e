//! `partition_pieces`: list the partitioned spans that cover each interval between adjacent boundaries.

use arrow_array::ArrayRef;
use arrow_schema::{ArrowError, DataType, FieldRef};
use pyo3::prelude::*;

use super::cancel::{Cancel, Token};
use super::cuts::{Cuts, Inputs, Layout, Sink};
use super::failure::{fail, to_python};
use super::gather::gather;
use super::required::Required;
use super::source::{ChunkedInput, Kind, ROWS};
use super::stream::{int64, made, nullable, schema, stream};
use crate::exchange::{InputStream, OutputStream};

/// Makes one row for each stretch and partition that covers it.
#[derive(Default)]
struct Pieces {
    fields: Vec<FieldRef>,
    /// The row of each partition's span.
    rows: Vec<u64>,
    intervals: i64,
    out: Out,
}

#[derive(Default)]
struct Out {
    interval: Vec<i64>,
    ts: Vec<i64>,
    duration: Vec<i64>,
    code: Vec<u32>,
    row: Vec<u64>,
}

impl Sink for Pieces {
    fn load(&mut self, _: &ChunkedInput) -> Result<(), ArrowError> {
        Ok(())
    }

    fn begin(&mut self, code: u32, _: u32, input: &ChunkedInput) {
        if self.rows.len() <= code as usize {
            self.rows.resize(code as usize + 1, 0);
        }
        self.rows[code as usize] = input.chunk.base + input.pos as u64;
    }

    fn end(&mut self, _: u32, _: u32) {}

    fn stretch(&mut self, _: u32, active: &[u32], (ts, duration): (i64, i64)) -> Result<(), ArrowError> {
        for &code in active {
            self.out.interval.push(self.intervals);
            self.out.ts.push(ts);
            self.out.duration.push(duration);
            self.out.code.push(code);
            self.out.row.push(self.rows[code as usize]);
        }
        self.intervals += 1;
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.out.code.len() >= ROWS
    }

    fn release(&mut self, input: &mut ChunkedInput, open: &mut dyn Iterator<Item = u64>) {
        input.held.retain(open.chain(self.out.row.iter().copied()));
    }

    fn flush(&mut self, cuts: Inputs<'_>) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        if self.out.code.is_empty() {
            return Ok(None);
        }
        let out = std::mem::take(&mut self.out);
        let mut columns = vec![int64(out.interval), int64(out.ts), int64(out.duration)];
        columns.extend(cuts.partitions.columns(out.code)?);
        columns.extend(gather(&cuts.input.held, &self.fields, &out.row)?);
        Ok(Some(columns))
    }
}

#[pyfunction]
#[pyo3(signature = (spans, *, partitions, keep, names, intersect=None, cancel=None))]
pub fn partition_pieces(
    spans: InputStream,
    partitions: usize,
    keep: Vec<usize>,
    names: Vec<String>,
    intersect: Option<InputStream>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    let required = intersect.map(InputStream::into_reader).map(Required::new);
    let reader = spans.into_reader();
    let token = Token::new(cancel);
    let build = || -> Result<OutputStream, ArrowError> {
        let input = ChunkedInput::new(reader, Kind::Spans, partitions, "partitioned", token.clone())?;
        let fields = input.payload_fields();
        let mut all = vec![made(DataType::Int64, false); 3];
        all.extend(nullable(input.partition_fields()));
        all.extend(nullable(fields.clone()));
        let schema = schema(all, &names)?;
        let own = names.get(3..3 + partitions).ok_or_else(|| fail("too few output names"))?;
        let layout = Layout { names: own.to_vec(), keep, required };
        let sink = Pieces { fields, ..Pieces::default() };
        Ok(stream(schema, Cuts::new(input, layout, sink)?, token.clone()))
    };
    build().map_err(to_python)
}
