//! Put calls of the same time in order of their numbers; a table in order of time has them in any order.

use std::collections::VecDeque;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{RecordBatch, RecordBatchReader, UInt32Array};
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;

use crate::sweeps::fail;

/// Reads batches in order of time, and returns them with all rows of one time in one batch.
pub struct WholeTimes<R> {
    reader: R,
    time: usize,
    ready: VecDeque<RecordBatch>,
    /// Rows of the latest time, of which there may be more. However many they are, they wait in memory.
    rest: Vec<RecordBatch>,
}

impl<R: RecordBatchReader> WholeTimes<R> {
    /// Read batches, given the place of a column of INT64.
    pub fn new(reader: R, time: usize) -> Self {
        Self { reader, time, ready: VecDeque::new(), rest: Vec::new() }
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let times = integers(batch, self.time)?;
        let (Some(first), Some(last)) = (times.first(), times.last()) else {
            return Ok(());
        };
        let run = |time| move |other: &&i64| *other == time;
        let mut begin = 0;
        if let Some(rest) = self.rest.last()
            && integers(rest, self.time)?.last() == Some(first)
        {
            begin = times.iter().take_while(run(first)).count();
            self.rest.push(batch.slice(0, begin));
            if begin == times.len() {
                return Ok(());
            }
        }
        self.end()?;
        let end = times.len() - times.iter().rev().take_while(run(last)).count();
        if begin < end {
            self.ready.push_back(batch.slice(begin, end - begin));
        }
        self.rest.push(batch.slice(end, times.len() - end));
        Ok(())
    }

    /// Return the rows of the latest time: there are no more.
    fn end(&mut self) -> Result<(), ArrowError> {
        if !self.rest.is_empty() {
            self.ready.push_back(concat_batches(&self.reader.schema(), &self.rest)?);
            self.rest.clear();
        }
        Ok(())
    }
}

impl<R: RecordBatchReader> Iterator for WholeTimes<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Some(Ok(batch));
            }
            let read = match self.reader.next() {
                Some(Ok(batch)) => self.add(&batch),
                Some(Err(error)) => Err(error),
                None if self.rest.is_empty() => return None,
                None => self.end(),
            };
            if let Err(error) = read {
                return Some(Err(error));
            }
        }
    }
}

/// The order of rows by time and number, given these in order of time; none if they are in that order.
pub fn order(times: &[i64], numbers: &[i64]) -> Result<Option<Vec<u32>>, ArrowError> {
    let mut pairs = times.windows(2).zip(numbers.windows(2));
    if !pairs.any(|(time, number)| time[0] == time[1] && number[1] < number[0]) {
        return Ok(None);
    }
    let rows = u32::try_from(times.len()).map_err(|_| fail("a batch has too many rows"))?;
    let mut order: Vec<u32> = (0..rows).collect();
    for run in order.chunk_by_mut(|&one, &next| times[one as usize] == times[next as usize]) {
        run.sort_by_key(|&row| numbers[row as usize]);
    }
    Ok(Some(order))
}

/// Reads batches in order of time, and returns them in order of time and number.
pub struct InOrder<R> {
    whole: WholeTimes<R>,
    number: usize,
}

impl<R: RecordBatchReader> InOrder<R> {
    /// Read batches, given the places of two columns of INT64.
    pub fn new(reader: R, time: usize, number: usize) -> Self {
        Self { whole: WholeTimes::new(reader, time), number }
    }

    fn sorted(&self, batch: RecordBatch) -> Result<RecordBatch, ArrowError> {
        match order(integers(&batch, self.whole.time)?, integers(&batch, self.number)?)? {
            Some(order) => take_record_batch(&batch, &UInt32Array::from(order)),
            None => Ok(batch),
        }
    }
}

impl<R: RecordBatchReader> Iterator for InOrder<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.whole.next()?;
        Some(batch.and_then(|batch| self.sorted(batch)))
    }
}

impl<R: RecordBatchReader> RecordBatchReader for InOrder<R> {
    fn schema(&self) -> SchemaRef {
        self.whole.reader.schema()
    }
}

fn integers(batch: &RecordBatch, column: usize) -> Result<&[i64], ArrowError> {
    let found = batch.columns().get(column).and_then(|one| one.as_primitive_opt::<Int64Type>());
    found.map(|one| one.values().as_ref()).ok_or_else(|| fail("times and numbers of calls are not INT64"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Int64Array, RecordBatchIterator};
    use arrow_schema::{DataType, Field, Schema};

    use super::*;

    /// The rows of batches, as they come.
    fn rows(batches: &[&[(i64, i64)]]) -> Vec<(i64, i64)> {
        let fields = ["time", "number"].map(|name| Field::new(name, DataType::Int64, false));
        let schema = Arc::new(Schema::new(fields.to_vec()));
        let made = batches.iter().map(|rows| {
            let (times, numbers): (Vec<_>, Vec<_>) = rows.iter().copied().unzip();
            let columns: [arrow_array::ArrayRef; 2] =
                [Arc::new(Int64Array::from(times)), Arc::new(Int64Array::from(numbers))];
            RecordBatch::try_new(schema.clone(), columns.to_vec())
        });
        let made: Vec<_> = made.collect();
        let read = InOrder::new(RecordBatchIterator::new(made, schema.clone()), 0, 1);
        read.flat_map(|batch| {
            let batch = batch.unwrap();
            let (times, numbers) = (integers(&batch, 0).unwrap(), integers(&batch, 1).unwrap());
            times.iter().copied().zip(numbers.iter().copied()).collect::<Vec<_>>()
        })
        .collect()
    }

    #[test]
    fn ties_within_and_across_batches_are_sorted() {
        let batches: [&[(i64, i64)]; 6] = [
            &[(1, 5), (1, 4), (2, 9), (3, 8)],
            &[(3, 7)],
            &[],
            &[(3, 6), (4, 2), (4, 1), (5, 3)],
            &[(5, 1)],
            &[(6, 0)],
        ];
        let mut expected = batches.concat();
        expected.sort_unstable();
        assert_eq!(rows(&batches), expected);
        assert_eq!(rows(&[&[], &[]]), []);
        assert_eq!(rows(&[&[(1, 3), (1, 2)], &[(1, 1)]]), [(1, 1), (1, 2), (1, 3)]);
    }

    #[test]
    fn rows_that_are_not_in_order_of_time_stay_so() {
        assert_eq!(rows(&[&[(2, 1), (1, 0)], &[(3, 2)]]), [(2, 1), (1, 0), (3, 2)]);
    }
}
