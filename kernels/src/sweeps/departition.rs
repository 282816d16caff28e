//! `departition`: compute aggregates over the partitioned spans that cover each interval between adjacent boundaries.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Decimal128Array, Float64Array, Int64Array};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};
use pyo3::prelude::*;

use super::aggregates::{Aggregate, AggregateInput, Call, Form, Function, larger, mean};
use super::cancel::{Cancel, Token};
use super::cuts::{Cuts, Inputs, Layout, Sink};
use super::failure::{fail, to_python};
use super::required::Required;
use super::source::{ChunkedInput, Kind, ROWS};
use super::stream::{int64, made, nullable, schema, stream};
use crate::exchange::{InputStream, OutputStream, Reader};

/// One output column: an aggregate, and its state for the open spans.
struct Column {
    aggregate: Aggregate,
    /// The chunk's values, and for each partition the value of its span.
    chunk: Values,
    spans: Vec<Option<Number>>,
    /// For each bundle the sum and count of the values of open spans; sums of floats are not kept, as they drift.
    totals: Vec<Total>,
    out: Out,
}

#[derive(Clone, Copy)]
enum Number {
    Whole(i64),
    Real(f64),
}

enum Values {
    None,
    Whole(Int64Array),
    Real(Float64Array),
}

#[derive(Clone, Copy, Default)]
struct Total {
    sum: i128,
    count: i64,
}

/// Results that wait for their batch.
enum Out {
    Whole(Vec<Option<i64>>),
    Wide(Vec<Option<i128>>),
    Real(Vec<Option<f64>>),
}

struct Departition {
    columns: Vec<Column>,
    ts: Vec<i64>,
    duration: Vec<i64>,
    bundle: Vec<u32>,
}

impl Number {
    fn real(self) -> f64 {
        match self {
            Self::Whole(value) => value as f64,
            Self::Real(value) => value,
        }
    }

    /// The smaller or larger of two of a kind.
    fn pick(self, other: Self, smaller: bool) -> Self {
        let less = match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a < b,
            (a, b) => larger(b.real(), a.real()),
        };
        if less == smaller { self } else { other }
    }
}

impl Out {
    fn new(result: &DataType) -> Self {
        match result {
            DataType::Float32 | DataType::Float64 => Self::Real(Vec::new()),
            DataType::Decimal128(..) => Self::Wide(Vec::new()),
            _ => Self::Whole(Vec::new()),
        }
    }

    fn push(&mut self, number: Option<Number>) {
        match self {
            Self::Real(out) => out.push(number.map(Number::real)),
            Self::Whole(out) => out.push(match number {
                Some(Number::Whole(value)) => Some(value),
                _ => None,
            }),
            Self::Wide(out) => out.push(None),
        }
    }

    fn push_sum(&mut self, sum: i128, ts: i64) -> Result<(), ArrowError> {
        match self {
            Self::Wide(out) => out.push(Some(sum)),
            _ => {
                let sum = i64::try_from(sum).map_err(|_| fail(format!("the sum at {ts} exceeds Int64: {sum}")))?;
                self.push(Some(Number::Whole(sum)));
            }
        }
        Ok(())
    }
}

/// What the type of wide sums is too small for.
const WIDE_END: u128 = 10u128.pow(38);

fn too_large(ts: i64) -> ArrowError {
    fail(format!("integer overflow: the sum over time at {ts} has more than 38 digits"))
}

impl Column {
    fn new(aggregate: Aggregate) -> Result<Self, ArrowError> {
        let numbers =
            aggregate.form != Form::Other || matches!(aggregate.function, Function::Count | Function::TimeKnown);
        let picks = matches!(aggregate.function, Function::First | Function::Last);
        if picks || !numbers {
            return Err(fail(format!("cannot aggregate {} over partitions", aggregate.data_type)));
        }
        Ok(Self {
            out: Out::new(&aggregate.result),
            aggregate,
            chunk: Values::None,
            spans: Vec::new(),
            totals: Vec::new(),
        })
    }

    fn load(&mut self, input: &ChunkedInput) -> Result<(), ArrowError> {
        let number = (input.chunk.base >> 32) as u32;
        let AggregateInput::Column(column) = self.aggregate.taken else {
            return Ok(());
        };
        let Some(column) = input.held.column(number, column) else {
            return Ok(());
        };
        let counts = matches!(self.aggregate.function, Function::Count | Function::TimeKnown);
        self.chunk = if counts {
            let present = Int64Array::from(vec![0; column.len()]).into_parts().1;
            Values::Whole(Int64Array::new(present, column.logical_nulls()))
        } else if self.aggregate.form == Form::Real {
            let real = cast(column, &DataType::Float64)?;
            Values::Real(real.as_primitive::<Float64Type>().clone())
        } else {
            let whole = cast(column, &DataType::Int64)?;
            Values::Whole(whole.as_primitive::<Int64Type>().clone())
        };
        Ok(())
    }

    fn begin(&mut self, code: usize, bundle: usize, row: usize) {
        let value = match &self.chunk {
            Values::None => Some(Number::Whole(0)),
            Values::Whole(values) => values.is_valid(row).then(|| Number::Whole(values.value(row))),
            Values::Real(values) => values.is_valid(row).then(|| Number::Real(values.value(row))),
        };
        if self.spans.len() <= code {
            self.spans.resize(code + 1, None);
        }
        if self.totals.len() <= bundle {
            self.totals.resize(bundle + 1, Total::default());
        }
        self.spans[code] = value;
        self.count(bundle, value, 1);
    }

    fn end(&mut self, code: usize, bundle: usize) {
        self.count(bundle, self.spans[code], -1);
    }

    fn count(&mut self, bundle: usize, value: Option<Number>, sign: i64) {
        let Some(value) = value else { return };
        let total = &mut self.totals[bundle];
        total.count += sign;
        if let Number::Whole(value) = value {
            total.sum += i128::from(value) * i128::from(sign);
        }
    }

    fn stretch(&mut self, bundle: usize, active: &[u32], (ts, duration): (i64, i64)) -> Result<(), ArrowError> {
        let Total { sum, count } = self.totals[bundle];
        let function = self.aggregate.function;
        if count == 0 || function == Function::Count {
            let counted = (function == Function::Count).then_some(Number::Whole(count));
            self.out.push(counted);
            return Ok(());
        }
        // All pieces of a stretch have its times.
        let same = match self.aggregate.taken {
            AggregateInput::Start => Some(ts),
            AggregateInput::Duration => Some(duration),
            AggregateInput::Rows | AggregateInput::Column(_) => None,
        };
        let sum = same.map_or(sum, |same| i128::from(same) * i128::from(count));
        let values = || {
            let value = |&code: &u32| same.map(Number::Whole).or(self.spans[code as usize]);
            active.iter().filter_map(value)
        };
        let real = || values().fold(0.0, |sum, value| sum + value.real());
        let whole = self.aggregate.form == Form::Whole;
        let number = match function {
            Function::Sum | Function::WideSum if whole => return self.out.push_sum(sum, ts),
            Function::TimeKnown => {
                let known = i128::from(duration) * i128::from(count);
                return self.out.push_sum(known, ts);
            }
            Function::TimeSum if whole => {
                let weighed = sum.checked_mul(i128::from(duration)).filter(|sum| sum.unsigned_abs() < WIDE_END);
                return self.out.push_sum(weighed.ok_or_else(|| too_large(ts))?, ts);
            }
            Function::TimeSum if self.aggregate.data_type == DataType::Float32 => {
                let weighed = |value: Number| f64::from(value.real() as f32 * duration as f32);
                Some(Number::Real(values().fold(0.0, |sum, value| sum + weighed(value))))
            }
            Function::TimeSum => {
                Some(Number::Real(values().fold(0.0, |sum, value| sum + value.real() * duration as f64)))
            }
            Function::Avg if whole => {
                let own = &self.aggregate.data_type;
                Some(Number::Real(mean(sum, count.unsigned_abs(), own)))
            }
            Function::Avg => Some(Number::Real(real() / count as f64)),
            Function::Min => values().reduce(|a, b| a.pick(b, true)),
            Function::Max => values().reduce(|a, b| a.pick(b, false)),
            _ => Some(Number::Real(real())),
        };
        self.out.push(number);
        Ok(())
    }

    fn flush(&mut self) -> Result<ArrayRef, ArrowError> {
        let result = &self.aggregate.result;
        let made: ArrayRef = match std::mem::replace(&mut self.out, Out::new(result)) {
            Out::Whole(values) => Arc::new(Int64Array::from(values)),
            Out::Real(values) => Arc::new(Float64Array::from(values)),
            Out::Wide(values) => Arc::new(Decimal128Array::from(values).with_precision_and_scale(38, 0)?),
        };
        cast(&made, result)
    }
}

impl Sink for Departition {
    fn load(&mut self, input: &ChunkedInput) -> Result<(), ArrowError> {
        self.columns.iter_mut().try_for_each(|column| column.load(input))
    }

    fn begin(&mut self, code: u32, bundle: u32, input: &ChunkedInput) {
        for column in &mut self.columns {
            column.begin(code as usize, bundle as usize, input.pos);
        }
    }

    fn end(&mut self, code: u32, bundle: u32) {
        for column in &mut self.columns {
            column.end(code as usize, bundle as usize);
        }
    }

    fn stretch(&mut self, bundle: u32, active: &[u32], (ts, duration): (i64, i64)) -> Result<(), ArrowError> {
        self.ts.push(ts);
        self.duration.push(duration);
        self.bundle.push(bundle);
        self.columns.iter_mut().try_for_each(|column| column.stretch(bundle as usize, active, (ts, duration)))
    }

    fn is_full(&self) -> bool {
        self.ts.len() >= ROWS
    }

    fn release(&mut self, input: &mut ChunkedInput, open: &mut dyn Iterator<Item = u64>) {
        input.held.retain(open);
    }

    fn flush(&mut self, cuts: Inputs<'_>) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        if self.ts.is_empty() {
            return Ok(None);
        }
        let mut columns = vec![int64(std::mem::take(&mut self.ts)), int64(std::mem::take(&mut self.duration))];
        columns.extend(cuts.kept.columns(std::mem::take(&mut self.bundle))?);
        for column in &mut self.columns {
            columns.push(column.flush()?);
        }
        Ok(Some(columns))
    }
}

#[pyfunction]
#[pyo3(signature = (spans, *, partitions, keep, aggregates, names, intersect=None, cancel=None))]
pub fn departition(
    spans: InputStream,
    partitions: usize,
    keep: Vec<usize>,
    aggregates: Vec<Call>,
    names: Vec<String>,
    intersect: Option<InputStream>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    let required = intersect.map(InputStream::into_reader).map(Required::new);
    let token = Token::new(cancel);
    let layout = Layout { names: Vec::new(), keep, required };
    build(spans.into_reader(), partitions, layout, &aggregates, &names, token).map_err(to_python)
}

fn build(
    input: Reader,
    partitions: usize,
    mut layout: Layout,
    aggregates: &[Call],
    names: &[String],
    token: Token,
) -> Result<OutputStream, ArrowError> {
    let input = ChunkedInput::new(input, Kind::Spans, partitions, "partitioned", token.clone())?;
    let (own, fields) = (input.partition_fields(), input.payload_fields());
    layout.names = own.iter().map(|field| field.name().clone()).collect();
    let make = |call: &Call| Column::new(Aggregate::new(call, &fields)?);
    let columns = aggregates.iter().map(make).collect::<Result<Vec<_>, _>>()?;
    let mut all = vec![made(DataType::Int64, false); 2];
    all.extend(nullable(layout.keep.iter().filter_map(|&column| own.get(column).cloned()).collect()));
    all.extend(columns.iter().map(|column| made(column.aggregate.result.clone(), true)));
    let schema = schema(all, names)?;
    let sink = Departition { columns, ts: Vec::new(), duration: Vec::new(), bundle: Vec::new() };
    Ok(stream(schema, Cuts::new(input, layout, sink)?, token))
}
