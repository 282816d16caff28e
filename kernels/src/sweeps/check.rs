//! `checked`: check times, order and overlaps of rows declared to be spans or events, and pass on the same batches.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field};
use pyo3::prelude::*;

use super::cancel::{Cancel, Token};
use super::checks::Fault;
use super::failure::{fail, to_python, upstream};
use super::partition::Partitions;
use super::stream::{Sweep, nullable, partitions, schema, stream};
use crate::exchange::{InputStream, OutputStream, Reader};

/// The maximum number of faults in an error message.
const SHOWN: usize = 3;

struct Check {
    reader: Reader,
    events: bool,
    keys: usize,
    /// The number of columns in the output.
    width: usize,
    disjoint: bool,
    partitions: Partitions,
    cancel: Token,
    last: i64,
    /// The span of each partition that ends last so far: start and end.
    open: Vec<(i64, i64)>,
    faults: Faults,
}

/// The first fault, with the rows that have the same fault.
#[derive(Default)]
struct Faults {
    about: Option<&'static str>,
    rows: Vec<String>,
}

impl Faults {
    /// Record a fault; return true once there are enough that the search can stop.
    fn add(&mut self, fault: Fault) -> bool {
        if *self.about.get_or_insert(fault.about) == fault.about {
            self.rows.push(fault.row);
        }
        self.rows.len() > SHOWN
    }

    fn error(&mut self) -> Option<ArrowError> {
        let about = self.about?;
        let more = if self.rows.len() > SHOWN { "; and more" } else { "" };
        self.rows.truncate(SHOWN);
        Some(fail(format!("{about} {}{more}", self.rows.join("; "))))
    }
}

impl Check {
    /// Check every row; return true once enough faults are known.
    fn check(&mut self, columns: &[ArrayRef], rows: usize) -> Result<bool, ArrowError> {
        let times = 2 - usize::from(self.events);
        let own = columns.iter().take(times);
        let own: Option<Vec<_>> = own.map(|column| column.as_primitive_opt::<Int64Type>()).collect();
        let own = own.ok_or_else(|| fail("a batch differs from its stream's schema"))?;
        let keys = &columns[times..times + self.keys];
        let codes = if keys.is_empty() { Vec::new() } else { self.partitions.encode(keys, rows)? };
        self.open.resize(self.partitions.len(), (i64::MIN, i64::MIN));
        for row in 0..rows {
            let code = codes.get(row).copied().unwrap_or(0);
            if self.wrong(own[0], own.get(1).copied(), row, code)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    #[inline]
    fn wrong(
        &mut self,
        starts: &Int64Array,
        durations: Option<&Int64Array>,
        row: usize,
        code: u32,
    ) -> Result<bool, ArrowError> {
        let ts = starts.value(row);
        if starts.is_null(row) || ts < self.last {
            return self.misplaced(starts, durations, row, code);
        }
        self.last = ts;
        let Some(durations) = durations else {
            return Ok(false);
        };
        let duration = durations.value(row);
        let end = ts.saturating_add(duration);
        if durations.is_null(row) || duration <= 0 || end.wrapping_sub(ts) != duration {
            return self.lengthless(ts, durations, row, code);
        }
        let (start, stop) = self.open[code as usize];
        if self.disjoint && stop > ts {
            let place = self.partitions.describe(code)?;
            let fault = Fault::overlap((start, stop), (ts, end), &place);
            if self.faults.add(fault) {
                return Ok(true);
            }
        }
        if end > stop {
            self.open[code as usize] = (ts, end);
        }
        Ok(false)
    }

    /// Record a row without time, or one out of order, after which further checks are meaningless.
    #[cold]
    fn misplaced(
        &mut self,
        starts: &Int64Array,
        durations: Option<&Int64Array>,
        row: usize,
        code: u32,
    ) -> Result<bool, ArrowError> {
        let place = self.partitions.describe(code)?;
        if starts.is_null(row) {
            return Ok(self.faults.add(Fault::no_time(durations, row, &place)));
        }
        let fault = Fault::unsorted(starts.value(row), self.last, &place);
        self.faults.add(fault);
        Ok(true)
    }

    #[cold]
    fn lengthless(&mut self, ts: i64, durations: &Int64Array, row: usize, code: u32) -> Result<bool, ArrowError> {
        let place = self.partitions.describe(code)?;
        let fault = Fault::no_length(ts, durations, row, &place);
        Ok(self.faults.add(fault))
    }
}

impl Sweep for Check {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        loop {
            self.cancel.check()?;
            let batch: Option<RecordBatch> = self.reader.next().transpose().map_err(|error| upstream(&error))?;
            let enough = match &batch {
                Some(batch) => self.check(batch.columns(), batch.num_rows())?,
                None => true,
            };
            if enough && let Some(error) = self.faults.error() {
                return Err(error);
            }
            match batch {
                None => return Ok(None),
                // After a fault, rows are only checked for more faults to show.
                Some(batch) if self.faults.about.is_none() => {
                    return Ok(Some(batch.columns()[..self.width].to_vec()));
                }
                Some(_) => {}
            }
        }
    }
}

#[pyfunction]
#[pyo3(signature = (rows, *, events, disjoint, partitions, names, cancel=None))]
pub fn checked(
    rows: InputStream,
    events: bool,
    disjoint: bool,
    partitions: usize,
    names: Vec<String>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    let reader = rows.into_reader();
    let token = Token::new(cancel);
    build(reader, (events, disjoint), partitions, &names, token).map_err(to_python)
}

fn build(
    reader: Reader,
    (events, disjoint): (bool, bool),
    keys: usize,
    names: &[String],
    cancel: Token,
) -> Result<OutputStream, ArrowError> {
    let times = 2 - usize::from(events);
    let fields: Vec<_> = reader.schema().fields().iter().cloned().collect();
    if fields.len() < times + keys {
        return Err(fail(format!("the input has {} columns, expected at least {}", fields.len(), times + keys)));
    }
    if let Some(field) = fields.iter().take(times).find(|field| *field.data_type() != DataType::Int64) {
        return Err(fail(format!("a time is {}, expected Int64", field.data_type())));
    }
    let types = fields.iter().skip(times).take(keys);
    let partitions = partitions(names, times, types.map(|field| field.data_type().clone()).collect())?;
    let all = fields[..times].iter().map(|field| Arc::new(Field::clone(field)));
    let all = all.chain(nullable(fields[times..].to_vec()).take(names.len().saturating_sub(times))).collect();
    let schema = schema(all, names)?;
    let check = Check {
        reader,
        events,
        keys,
        width: names.len(),
        disjoint,
        partitions,
        cancel: cancel.clone(),
        last: i64::MIN,
        open: Vec::new(),
        faults: Faults::default(),
    };
    Ok(stream(schema, check, cancel))
}
