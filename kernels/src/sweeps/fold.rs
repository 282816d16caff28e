//! Compute one aggregate's value per slot from the values of pieces, each with the slot of its group.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, Decimal128Array, Float32Array, Float64Array, Int64Array, UInt32Array, new_empty_array,
    new_null_array,
};
use arrow_buffer::NullBuffer;
use arrow_cast::cast;
use arrow_row::{OwnedRow, RowConverter, SortField};
use arrow_schema::{ArrowError, DataType};
use arrow_select::interleave::interleave;
use arrow_select::take::take;

use super::aggregates::{Aggregate, AggregateInput, Form, Function, WIDE, larger, mean};
use super::failure::fail;

/// One aggregate and its state for each slot.
pub struct Fold {
    pub aggregate: Aggregate,
    /// The number of values in a slot; the number of rows where NULLs count too.
    count: Vec<u64>,
    state: State,
}

enum State {
    Count,
    Sum(Vec<i128>),
    Real(Vec<f64>),
    Best(Vec<i64>),
    BestReal(Vec<f64>),
    BestRow(Box<RowConverter>, Vec<Option<OwnedRow>>),
    /// One value per slot, in the input's own type.
    Value(ArrayRef),
}

/// The input of one batch of pieces.
pub struct Batch<'a> {
    pub slot: &'a [u32],
    pub duration: &'a Int64Array,
    pub ts: &'a Int64Array,
    /// The current number of slots.
    pub slots: usize,
}

impl Fold {
    pub fn new(aggregate: Aggregate) -> Result<Self, ArrowError> {
        let (own, real) = (&aggregate.data_type, aggregate.form == Form::Real);
        let state = match aggregate.function {
            Function::Count => State::Count,
            Function::TimeKnown => State::Sum(Vec::new()),
            Function::Sum | Function::WideSum | Function::Avg | Function::TimeSum if real => State::Real(Vec::new()),
            Function::Sum | Function::WideSum | Function::Avg | Function::TimeSum => State::Sum(Vec::new()),
            Function::First | Function::Last => State::Value(new_empty_array(own)),
            Function::Min | Function::Max => match aggregate.form {
                Form::Whole => State::Best(Vec::new()),
                Form::Real => State::BestReal(Vec::new()),
                Form::Other => {
                    let converter = RowConverter::new(vec![SortField::new(own.clone())])?;
                    State::BestRow(Box::new(converter), Vec::new())
                }
            },
        };
        Ok(Self { aggregate, count: Vec::new(), state })
    }

    /// Add pieces; `column` is their payload if the aggregate takes a payload column.
    pub fn add(&mut self, batch: &Batch<'_>, column: Option<&ArrayRef>) -> Result<(), ArrowError> {
        self.count.resize(batch.slots, 0);
        let own: Option<ArrayRef> = match self.aggregate.taken {
            AggregateInput::Rows => None,
            AggregateInput::Start => Some(Arc::new(batch.ts.clone())),
            AggregateInput::Duration => Some(Arc::new(batch.duration.clone())),
            AggregateInput::Column(_) => Some(column.ok_or_else(|| fail("a payload column is missing"))?.clone()),
        };
        let nulls = own.as_ref().and_then(|values| values.logical_nulls());
        let smallest = self.aggregate.function == Function::Min;
        let count = &mut self.count;
        match (&mut self.state, own) {
            (State::Count, _) => each(batch, nulls.as_ref(), |slot, _| count[slot] += 1),
            (State::Sum(sum), Some(values)) if self.aggregate.function == Function::TimeSum => {
                let values = cast(&values, &DataType::Int64)?;
                let values = values.as_primitive::<Int64Type>().values();
                let durations = batch.duration.values();
                sum.resize(batch.slots, 0);
                each(batch, nulls.as_ref(), |slot, row| {
                    // The pieces of one slot do not overlap, so that both factors of the sum are below 2^63.
                    sum[slot] += i128::from(values[row]) * i128::from(durations[row]);
                    count[slot] += 1;
                });
            }
            (State::Sum(sum), Some(values)) => {
                let values = self.aggregate.integers(&values, batch)?;
                let values = values.values();
                sum.resize(batch.slots, 0);
                each(batch, nulls.as_ref(), |slot, row| {
                    sum[slot] += i128::from(values[row]);
                    count[slot] += 1;
                });
            }
            (State::Real(sum), Some(values)) => {
                let values = self.aggregate.floats(&values, batch)?;
                let values = values.values();
                sum.resize(batch.slots, 0.0);
                each(batch, nulls.as_ref(), |slot, row| {
                    sum[slot] += values[row];
                    count[slot] += 1;
                });
            }
            (State::Best(best), Some(values)) => {
                let values = cast(&values, &DataType::Int64)?;
                let values = values.as_primitive::<Int64Type>().values();
                best.resize(batch.slots, 0);
                each(batch, nulls.as_ref(), |slot, row| {
                    let better = (values[row] < best[slot]) == smallest;
                    if count[slot] == 0 || better && values[row] != best[slot] {
                        best[slot] = values[row];
                    }
                    count[slot] += 1;
                });
            }
            (State::BestReal(best), Some(values)) => {
                let values = cast(&values, &DataType::Float64)?;
                let values = values.as_primitive::<Float64Type>().values();
                best.resize(batch.slots, 0.0);
                each(batch, nulls.as_ref(), |slot, row| {
                    let (now, new) = (best[slot], values[row]);
                    let better = if smallest { larger(now, new) } else { larger(new, now) };
                    if count[slot] == 0 || better {
                        best[slot] = new;
                    }
                    count[slot] += 1;
                });
            }
            (State::BestRow(converter, best), Some(values)) => {
                let rows = converter.convert_columns(&[values])?;
                best.resize(batch.slots, None);
                each(batch, nulls.as_ref(), |slot, row| {
                    let new = rows.row(row);
                    let better =
                        best[slot].as_ref().is_none_or(|now| if smallest { new < now.row() } else { new > now.row() });
                    if better {
                        best[slot] = Some(new.owned());
                    }
                });
            }
            (State::Value(kept), Some(values)) => {
                let first = self.aggregate.function == Function::First;
                *kept = picked(kept, &values, batch, count, first)?;
            }
            (_, None) => return Err(fail("an aggregate has nothing to aggregate")),
        }
        Ok(())
    }

    /// Take the values of the slots that are done; the others are kept in the given order.
    pub fn take(&mut self, done: &[u32], keep: &[u32]) -> Result<ArrayRef, ArrowError> {
        let count = split(&mut self.count, done, keep);
        let valid = || NullBuffer::from_iter(count.iter().map(|&count| count > 0));
        let result = &self.aggregate.result;
        let made: ArrayRef = match &mut self.state {
            State::Count => Arc::new(Int64Array::from_iter_values(count.iter().map(|&count| count as i64))),
            State::Sum(sum) => {
                let sums = split(sum, done, keep);
                match *result {
                    DataType::Float64 => {
                        let own = &self.aggregate.data_type;
                        let mean = |(&sum, &count)| mean(sum, count, own);
                        let means = sums.iter().zip(&count).map(mean).collect();
                        Arc::new(Float64Array::new(means, Some(valid())))
                    }
                    WIDE => Arc::new(Decimal128Array::new(sums.into(), Some(valid())).with_precision_and_scale(38, 0)?),
                    _ => {
                        let narrow = |&sum: &i128| {
                            i64::try_from(sum)
                                .map_err(|_| fail(format!("integer overflow: {sum} does not fit into 64 bits")))
                        };
                        let sums = sums.iter().map(narrow).collect::<Result<Vec<_>, _>>()?;
                        Arc::new(Int64Array::new(sums.into(), Some(valid())))
                    }
                }
            }
            State::Real(sum) => {
                let mut sums = split(sum, done, keep);
                if self.aggregate.function == Function::Avg {
                    let counts = sums.iter_mut().zip(&count);
                    counts.for_each(|(sum, &count)| *sum /= count as f64);
                }
                Arc::new(Float64Array::new(sums.into(), Some(valid())))
            }
            State::Best(best) => Arc::new(Int64Array::new(split(best, done, keep).into(), Some(valid()))),
            State::BestReal(best) => Arc::new(Float64Array::new(split(best, done, keep).into(), Some(valid()))),
            State::BestRow(converter, best) => best_rows(converter, &split(best, done, keep))?,
            State::Value(kept) => {
                let pick = |places: &[u32]| take(kept, &UInt32Array::from(places.to_vec()), None);
                let (made, rest) = (pick(done)?, pick(keep)?);
                *kept = rest;
                made
            }
        };
        cast(&made, result)
    }
}

impl Aggregate {
    fn integers(&self, values: &ArrayRef, batch: &Batch<'_>) -> Result<Int64Array, ArrowError> {
        if self.function == Function::TimeKnown {
            return Ok(batch.duration.clone());
        }
        let whole = cast(values, &DataType::Int64)?;
        Ok(whole.as_primitive::<Int64Type>().clone())
    }

    fn floats(&self, values: &ArrayRef, batch: &Batch<'_>) -> Result<Float64Array, ArrowError> {
        let single = |values: &Float32Array| {
            let weights = batch.duration.values().iter();
            let products = values.values().iter().zip(weights);
            Float64Array::from_iter_values(products.map(|(v, &w)| f64::from(v * w as f32)))
        };
        let double = |values: &Float64Array| {
            let products = values.values().iter().zip(batch.duration.values());
            Float64Array::from_iter_values(products.map(|(v, &w)| v * w as f64))
        };
        if self.function != Function::TimeSum {
            let real = cast(values, &DataType::Float64)?;
            return Ok(real.as_primitive::<Float64Type>().clone());
        }
        Ok(match values.data_type() {
            DataType::Float32 => single(values.as_primitive::<Float32Type>()),
            _ => double(values.as_primitive::<Float64Type>()),
        })
    }
}

/// Visit the pieces that have a value.
#[inline]
fn each(batch: &Batch<'_>, nulls: Option<&NullBuffer>, mut visit: impl FnMut(usize, usize)) {
    let slots = batch.slot.iter().enumerate();
    match nulls.filter(|nulls| nulls.null_count() > 0) {
        None => slots.for_each(|(row, &slot)| visit(slot as usize, row)),
        Some(nulls) => slots.filter(|(row, _)| nulls.is_valid(*row)).for_each(|(row, &slot)| visit(slot as usize, row)),
    }
}

/// The first or last value of each slot, NULLs included, out of those kept and the new ones.
fn picked(
    kept: &ArrayRef,
    values: &ArrayRef,
    batch: &Batch<'_>,
    count: &mut [u64],
    first: bool,
) -> Result<ArrayRef, ArrowError> {
    let known = kept.len();
    let mut picks: Vec<(usize, usize)> =
        (0..batch.slots).map(|slot| if slot < known { (0, slot) } else { (2, 0) }).collect();
    each(batch, None, |slot, row| {
        if !first || count[slot] == 0 {
            picks[slot] = (1, row);
        }
        count[slot] += 1;
    });
    let null = new_null_array(values.data_type(), 1);
    interleave(&[kept.as_ref(), values.as_ref(), null.as_ref()], &picks)
}

fn best_rows(converter: &RowConverter, best: &[Option<OwnedRow>]) -> Result<ArrayRef, ArrowError> {
    let rows = best.iter().flatten().map(OwnedRow::row);
    let found = converter.convert_rows(rows)?.remove(0);
    let mut next = 0u32;
    let places = best.iter().map(|row| {
        row.as_ref().map(|_| {
            next += 1;
            next - 1
        })
    });
    take(&found, &places.collect::<UInt32Array>(), None)
}

/// Removes and returns the values of the first places, and keeps those of the second.
fn split<T: Clone>(values: &mut Vec<T>, done: &[u32], keep: &[u32]) -> Vec<T> {
    let pick = |places: &[u32]| {
        let found = places.iter().map(|&place| values[place as usize].clone());
        found.collect::<Vec<_>>()
    };
    let (out, rest) = (pick(done), pick(keep));
    *values = rest;
    out
}
