//! Python's numbers -> times and attributes, with errors of their own for those that have more than 64 bits.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

use super::fault::Fault;

/// Digits of numbers that are written out.
const LONGEST: usize = 60;

fn number(value: &Bound<'_, PyAny>, refused: impl FnOnce(String) -> Fault) -> PyResult<i64> {
    value.extract::<i64>().map_err(|error| {
        if error.is_instance_of::<PyOverflowError>(value.py()) {
            let found = value.str().map(|found| found.to_string());
            let found = found.ok().filter(|found| found.len() <= LONGEST);
            return refused(found.unwrap_or_else(|| "that is very large".to_owned())).into();
        }
        error
    })
}

pub fn time(value: &Bound<'_, PyAny>) -> PyResult<i64> {
    number(value, |found| {
        Fault::Range(format!(
            "the time {found} has more than 64 bits, expected ns from {} to {}",
            i64::MIN,
            i64::MAX
        ))
    })
}

pub fn quark(value: &Bound<'_, PyAny>) -> PyResult<i64> {
    number(value, |found| {
        Fault::Attribute(format!("there is no attribute {found}"))
    })
}

fn list(
    values: &Bound<'_, PyAny>,
    each: fn(&Bound<'_, PyAny>) -> PyResult<i64>,
) -> PyResult<Vec<i64>> {
    values.try_iter()?.map(|value| each(&value?)).collect()
}

pub fn times(values: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    list(values, time)
}

pub fn some_times(values: &Bound<'_, PyAny>) -> PyResult<Option<Vec<i64>>> {
    (!values.is_none()).then(|| times(values)).transpose()
}

pub fn quarks(values: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    list(values, quark)
}

/// How many changes there are between two checkpoints, if there are any.
pub fn granularity(value: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    if value.is_none() {
        return Ok(None);
    }
    let found = number(value, |found| {
        Fault::Value(format!(
            "there cannot be {found} changes between two checkpoints"
        ))
    })?;
    Ok(Some(u64::try_from(found).unwrap_or(1)))
}
