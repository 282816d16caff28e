//! `departition`: partitioned spans -> for each stretch of time without a boundary aggregates over what covers it.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, FieldRef};
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatchReader;
use pyo3_arrow::input::AnyRecordBatch;

use super::cancel::{Cancel, Token};
use super::cuts::{Cuts, Inputs, Layout, Sink};
use super::failure::{fail, to_python};
use super::required::Required;
use super::source::{Kind, ROWS, Reader, Source};
use super::stream::{int64, made, nullable, schema, stream};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Function {
    Sum,
    Count,
    Min,
    Max,
    Avg,
}

/// One output column: a function of one payload column, or of the rows where there is none.
struct Aggregate {
    function: Function,
    column: Option<usize>,
    float: bool,
    result: DataType,
    /// The chunk's values, and for each partition the value of its span.
    chunk: Values,
    spans: Vec<Option<Number>>,
    /// For each bundle the sum and count of the values of open spans; sums of floats are not kept, as they drift.
    totals: Vec<Total>,
    out: Vec<Option<Number>>,
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

struct Departition {
    aggregates: Vec<Aggregate>,
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

    /// The smaller or larger of two of a kind; NaN is larger than any number, as in the engine.
    fn pick(self, other: Self, smaller: bool) -> Self {
        let less = match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a < b,
            (a, b) => a.real() < b.real() || (!a.real().is_nan() && b.real().is_nan()),
        };
        if less == smaller { self } else { other }
    }
}

impl Aggregate {
    fn new(function: &str, column: Option<usize>, fields: &[FieldRef]) -> Result<Self, ArrowError> {
        let function = match function {
            "sum" => Function::Sum,
            "count" => Function::Count,
            "min" => Function::Min,
            "max" => Function::Max,
            "avg" => Function::Avg,
            other => {
                return Err(fail(format!(
                    "aggregate is {other:?}, expected sum, count, min, max or avg"
                )));
            }
        };
        let found = |column: usize| {
            let field = fields.get(column).map(|field| field.data_type());
            field.ok_or_else(|| fail(format!("the payload has no column {column}")))
        };
        let data_type = column.map(found).transpose()?;
        let float = data_type.is_some_and(DataType::is_floating);
        let fits =
            data_type.is_none_or(|kind| kind.is_integer() && *kind != DataType::UInt64 || float);
        let counts = function == Function::Count;
        if !counts && (!fits || data_type.is_none()) {
            let found = data_type.map_or("nothing".to_owned(), DataType::to_string);
            return Err(fail(format!(
                "cannot aggregate {found}, expected integers up to Int64 or floats"
            )));
        }
        let result = match (function, data_type) {
            (Function::Min | Function::Max, Some(data_type)) => data_type.clone(),
            (Function::Avg, _) => DataType::Float64,
            (Function::Sum, _) if float => DataType::Float64,
            _ => DataType::Int64,
        };
        let (chunk, spans, totals, out) = (Values::None, Vec::new(), Vec::new(), Vec::new());
        Ok(Self {
            function,
            column,
            float,
            result,
            chunk,
            spans,
            totals,
            out,
        })
    }

    fn load(&mut self, input: &Source) -> Result<(), ArrowError> {
        let number = (input.chunk.base >> 32) as u32;
        let Some(column) = self
            .column
            .and_then(|column| input.held.column(number, column))
        else {
            return Ok(());
        };
        self.chunk = if self.function == Function::Count {
            let present = Int64Array::from(vec![0; column.len()]).into_parts().1;
            Values::Whole(Int64Array::new(present, column.logical_nulls()))
        } else if self.float {
            Values::Real(
                cast(column, &DataType::Float64)?
                    .as_primitive::<Float64Type>()
                    .clone(),
            )
        } else {
            Values::Whole(
                cast(column, &DataType::Int64)?
                    .as_primitive::<Int64Type>()
                    .clone(),
            )
        };
        Ok(())
    }

    fn begin(&mut self, code: usize, bundle: usize, row: usize) {
        let value = match &self.chunk {
            Values::None => Some(Number::Whole(0)),
            Values::Whole(values) => values
                .is_valid(row)
                .then(|| Number::Whole(values.value(row))),
            Values::Real(values) => values
                .is_valid(row)
                .then(|| Number::Real(values.value(row))),
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

    fn stretch(&mut self, bundle: usize, active: &[u32], ts: i64) -> Result<(), ArrowError> {
        let Total { sum, count } = self.totals[bundle];
        let values = || active.iter().filter_map(|&code| self.spans[code as usize]);
        let real = || values().map(Number::real).sum::<f64>();
        let result = match self.function {
            Function::Count => Some(Number::Whole(count)),
            _ if count == 0 => None,
            Function::Sum if self.float => Some(Number::Real(real())),
            Function::Sum => {
                let sum = i64::try_from(sum)
                    .map_err(|_| fail(format!("the sum at {ts} exceeds Int64: {sum}")))?;
                Some(Number::Whole(sum))
            }
            Function::Avg if self.float => Some(Number::Real(real() / count as f64)),
            Function::Avg => Some(Number::Real(sum as f64 / count as f64)),
            Function::Min => values().reduce(|a, b| a.pick(b, true)),
            Function::Max => values().reduce(|a, b| a.pick(b, false)),
        };
        self.out.push(result);
        Ok(())
    }

    fn flush(&mut self) -> Result<ArrayRef, ArrowError> {
        let out = std::mem::take(&mut self.out);
        let whole = |number: Number| {
            if let Number::Whole(value) = number {
                value
            } else {
                0
            }
        };
        let column: ArrayRef =
            if self.function == Function::Avg || self.float && self.function != Function::Count {
                Arc::new(
                    out.iter()
                        .map(|number| number.map(Number::real))
                        .collect::<Float64Array>(),
                )
            } else {
                Arc::new(
                    out.iter()
                        .map(|number| number.map(whole))
                        .collect::<Int64Array>(),
                )
            };
        cast(&column, &self.result)
    }
}

impl Sink for Departition {
    fn load(&mut self, input: &Source) -> Result<(), ArrowError> {
        self.aggregates
            .iter_mut()
            .try_for_each(|aggregate| aggregate.load(input))
    }

    fn begin(&mut self, code: u32, bundle: u32, input: &Source) {
        for aggregate in &mut self.aggregates {
            aggregate.begin(code as usize, bundle as usize, input.pos);
        }
    }

    fn end(&mut self, code: u32, bundle: u32) {
        for aggregate in &mut self.aggregates {
            aggregate.end(code as usize, bundle as usize);
        }
    }

    fn stretch(
        &mut self,
        bundle: u32,
        active: &[u32],
        (ts, duration): (i64, i64),
    ) -> Result<(), ArrowError> {
        self.ts.push(ts);
        self.duration.push(duration);
        self.bundle.push(bundle);
        self.aggregates
            .iter_mut()
            .try_for_each(|aggregate| aggregate.stretch(bundle as usize, active, ts))
    }

    fn is_full(&self) -> bool {
        self.ts.len() >= ROWS
    }

    fn release(&mut self, input: &mut Source, open: &mut dyn Iterator<Item = u64>) {
        input.held.retain(open);
    }

    fn flush(&mut self, cuts: Inputs<'_>) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        if self.ts.is_empty() {
            return Ok(None);
        }
        let mut columns = vec![
            int64(std::mem::take(&mut self.ts)),
            int64(std::mem::take(&mut self.duration)),
        ];
        columns.extend(cuts.kept.columns(std::mem::take(&mut self.bundle))?);
        for aggregate in &mut self.aggregates {
            columns.push(aggregate.flush()?);
        }
        Ok(Some(columns))
    }
}

#[pyfunction]
#[pyo3(signature = (spans, *, partitions, keep, aggregates, names, intersect=None, cancel=None))]
pub fn departition(
    spans: AnyRecordBatch,
    partitions: usize,
    keep: Vec<usize>,
    aggregates: Vec<(String, Option<usize>)>,
    names: Vec<String>,
    intersect: Option<AnyRecordBatch>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<PyRecordBatchReader> {
    let required = intersect
        .map(AnyRecordBatch::into_reader)
        .transpose()?
        .map(Required::new);
    let token = Token::new(cancel);
    let layout = Layout {
        names: Vec::new(),
        keep,
        required,
    };
    build(
        spans.into_reader()?,
        partitions,
        layout,
        &aggregates,
        &names,
        token,
    )
    .map_err(to_python)
}

fn build(
    input: Reader,
    partitions: usize,
    mut layout: Layout,
    aggregates: &[(String, Option<usize>)],
    names: &[String],
    token: Token,
) -> Result<PyRecordBatchReader, ArrowError> {
    let input = Source::new(input, Kind::Spans, partitions, "partitioned", token.clone())?;
    let (own, fields) = (input.partition_fields(), input.payload_fields());
    layout.names = own.iter().map(|field| field.name().clone()).collect();
    let make =
        |(function, column): &(String, Option<usize>)| Aggregate::new(function, *column, &fields);
    let aggregates = aggregates.iter().map(make).collect::<Result<Vec<_>, _>>()?;
    let mut all = vec![made(DataType::Int64, false); 2];
    all.extend(nullable(
        layout
            .keep
            .iter()
            .filter_map(|&column| own.get(column).cloned())
            .collect(),
    ));
    all.extend(
        aggregates
            .iter()
            .map(|aggregate| made(aggregate.result.clone(), true)),
    );
    let schema = schema(all, names)?;
    let sink = Departition {
        aggregates,
        ts: Vec::new(),
        duration: Vec::new(),
        bundle: Vec::new(),
    };
    Ok(stream(schema, Cuts::new(input, layout, sink)?, token))
}
