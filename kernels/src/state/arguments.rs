//! Convert arguments from Python into times, attributes, names and types, with specific errors for invalid ones.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::cell::Kind;
use super::fault::Fault;
use super::mipmap::Feature;

/// Maximum digits of numbers in messages.
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
        Fault::Range(format!("the time {found} has more than 64 bits, expected ns from {} to {}", i64::MIN, i64::MAX))
    })
}

pub fn quark(value: &Bound<'_, PyAny>) -> PyResult<i64> {
    number(value, |found| Fault::Attribute(format!("there is no attribute {found}")))
}

fn list(values: &Bound<'_, PyAny>, each: fn(&Bound<'_, PyAny>) -> PyResult<i64>) -> PyResult<Vec<i64>> {
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

/// The number of changes between two checkpoints, if there are any.
pub fn granularity(value: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    if value.is_none() {
        return Ok(None);
    }
    let found =
        number(value, |found| Fault::Value(format!("there cannot be {found} changes between two checkpoints")))?;
    Ok(Some(u64::try_from(found).unwrap_or(1)))
}

/// # Errors
/// The feature does not exist.
pub fn feature(name: &str) -> Result<Feature, Fault> {
    let found = Feature::ALL.into_iter().find(|one| one.name() == name);
    found.ok_or_else(|| Fault::Value(format!("unknown feature `{name}`, expected max, min or avg")))
}

/// # Errors
/// The type does not exist.
pub fn kind(name: &str) -> Result<Kind, Fault> {
    let found = (0..=4).filter_map(Kind::of).find(|kind| kind.name() == name);
    found.ok_or_else(|| {
        let text = format!("unknown type `{name}`, expected int, long, double or string");
        Fault::Value(text)
    })
}

/// # Errors
/// A name is invalid.
pub fn texts(names: &[Bound<'_, PyString>]) -> Result<Vec<String>, Fault> {
    let each = names.iter().map(|name| match name.to_str() {
        Ok(name) => Ok(name.to_owned()),
        Err(_) => Err(Fault::Value("a name is no Unicode text".to_owned())),
    });
    each.collect()
}
