//! Convert an Arrow column into Python objects, one per row.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use pyo3::BoundObject;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyList, PyString, PyType};

use super::clock;
use super::failure::to_python;

type Values<'py> = PyResult<Vec<Bound<'py, PyAny>>>;

/// Convert every row of a column.
pub fn values<'py>(py: Python<'py>, array: &ArrayRef) -> Values<'py> {
    match array.data_type() {
        DataType::Null => Ok(vec![py.None().into_bound(py); array.len()]),
        DataType::Boolean => {
            let column = array.as_boolean();
            convert(py, array, |row| Ok(PyBool::new(py, column.value(row)).to_owned().into_any()))
        }
        DataType::Int8 => number::<Int8Type>(py, array),
        DataType::Int16 => number::<Int16Type>(py, array),
        DataType::Int32 => number::<Int32Type>(py, array),
        DataType::Int64 => number::<Int64Type>(py, array),
        DataType::UInt8 => number::<UInt8Type>(py, array),
        DataType::UInt16 => number::<UInt16Type>(py, array),
        DataType::UInt32 => number::<UInt32Type>(py, array),
        DataType::UInt64 => number::<UInt64Type>(py, array),
        DataType::Float32 => number::<Float32Type>(py, array),
        DataType::Float64 => number::<Float64Type>(py, array),
        DataType::Float16 => values(py, &cast(array, &DataType::Float64).map_err(to_python)?),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => strings(py, array),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            bytes(py, array)
        }
        DataType::Dictionary(..) => dictionary(py, array),
        DataType::RunEndEncoded(_, field) => values(py, &cast(array, field.data_type()).map_err(to_python)?),
        DataType::List(_)
        | DataType::LargeList(_)
        | DataType::FixedSizeList(..)
        | DataType::ListView(_)
        | DataType::LargeListView(_) => lists(py, array),
        DataType::Struct(_) => structs(py, array),
        DataType::Map(..) => maps(py, array),
        other => scalars(py, array, other),
    }
}

/// Dates, times, intervals and decimals; other types as Arrow's text.
fn scalars<'py>(py: Python<'py>, array: &ArrayRef, kind: &DataType) -> Values<'py> {
    match kind {
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) | DataType::Decimal256(..) => {
            let decimal = decimal_type(py)?;
            let text = formatter(array)?;
            convert(py, array, |row| decimal.call1((text.value(row).to_string(),)))
        }
        DataType::Date32 => {
            let days = array.as_primitive::<Date32Type>();
            texts(py, array, |row| {
                let count = i64::from(days.value(row));
                endless(count, i32::MAX.into()).unwrap_or_else(|| clock::date(count))
            })
        }
        DataType::Date64 => {
            let millis = array.as_primitive::<Date64Type>();
            texts(py, array, |row| clock::date(millis.value(row).div_euclid(86_400_000)))
        }
        DataType::Time32(unit) | DataType::Time64(unit) => {
            let counts = integers(array)?;
            texts(py, array, |row| clock::time(counts.as_primitive::<Int64Type>().value(row), per_second(*unit)))
        }
        DataType::Timestamp(unit, zone) => timestamps(py, array, per_second(*unit), zone.is_some()),
        DataType::Duration(unit) => {
            let counts = integers(array)?;
            let factor = 1_000_000.0 / per_second(*unit) as f64;
            let micros = |count: i64| {
                if factor >= 1.0 { count.saturating_mul(factor as i64) } else { count / 1000 }
            };
            texts(py, array, |row| clock::interval(0, 0, micros(counts.as_primitive::<Int64Type>().value(row))))
        }
        DataType::Interval(unit) => intervals(py, array, *unit),
        _ => {
            let text = formatter(array)?;
            texts(py, array, |row| text.value(row).to_string())
        }
    }
}

/// Convert the rows that are not NULL.
fn convert<'py>(
    py: Python<'py>,
    array: &ArrayRef,
    mut one: impl FnMut(usize) -> PyResult<Bound<'py, PyAny>>,
) -> Values<'py> {
    let none = py.None().into_bound(py);
    match array.logical_nulls().filter(|nulls| nulls.null_count() > 0) {
        None => (0..array.len()).map(one).collect(),
        Some(nulls) => {
            (0..array.len()).map(|row| if nulls.is_null(row) { Ok(none.clone()) } else { one(row) }).collect()
        }
    }
}

fn number<'py, T>(py: Python<'py>, array: &ArrayRef) -> Values<'py>
where
    T: ArrowPrimitiveType,
    T::Native: IntoPyObject<'py>,
    <T::Native as IntoPyObject<'py>>::Error: Into<PyErr>,
{
    let column: &PrimitiveArray<T> = array.as_primitive();
    convert(py, array, |row| {
        let value = column.value(row).into_pyobject(py).map_err(Into::into)?;
        Ok(value.into_any().into_bound())
    })
}

fn texts<'py>(py: Python<'py>, array: &ArrayRef, text: impl Fn(usize) -> String) -> Values<'py> {
    convert(py, array, |row| Ok(PyString::new(py, &text(row)).into_any()))
}

fn strings<'py>(py: Python<'py>, array: &ArrayRef) -> Values<'py> {
    let make = |text: &str| Ok(PyString::new(py, text).into_any());
    match array.data_type() {
        DataType::Utf8 => convert(py, array, |row| make(array.as_string::<i32>().value(row))),
        DataType::LargeUtf8 => convert(py, array, |row| make(array.as_string::<i64>().value(row))),
        _ => convert(py, array, |row| make(array.as_string_view().value(row))),
    }
}

fn bytes<'py>(py: Python<'py>, array: &ArrayRef) -> Values<'py> {
    let make = |data: &[u8]| Ok(PyBytes::new(py, data).into_any());
    match array.data_type() {
        DataType::Binary => convert(py, array, |row| make(array.as_binary::<i32>().value(row))),
        DataType::LargeBinary => convert(py, array, |row| make(array.as_binary::<i64>().value(row))),
        DataType::BinaryView => convert(py, array, |row| make(array.as_binary_view().value(row))),
        _ => convert(py, array, |row| make(array.as_fixed_size_binary().value(row))),
    }
}

/// Each distinct value becomes one Python object.
fn dictionary<'py>(py: Python<'py>, array: &ArrayRef) -> Values<'py> {
    let column = array.as_any_dictionary();
    let distinct = values(py, column.values())?;
    if distinct.is_empty() {
        return Ok(vec![py.None().into_bound(py); array.len()]);
    }
    let keys = column.normalized_keys();
    convert(py, array, |row| Ok(distinct[keys[row]].clone()))
}

fn lists<'py>(py: Python<'py>, array: &ArrayRef) -> Values<'py> {
    let one: &dyn Fn(usize) -> ArrayRef = match array.data_type() {
        DataType::List(_) => &|row| array.as_list::<i32>().value(row),
        DataType::LargeList(_) => &|row| array.as_list::<i64>().value(row),
        DataType::ListView(_) => &|row| array.as_list_view::<i32>().value(row),
        DataType::LargeListView(_) => &|row| array.as_list_view::<i64>().value(row),
        _ => &|row| array.as_fixed_size_list().value(row),
    };
    convert(py, array, |row| Ok(PyList::new(py, values(py, &one(row))?)?.into_any()))
}

fn structs<'py>(py: Python<'py>, array: &ArrayRef) -> Values<'py> {
    let column = array.as_struct();
    let parts = column.columns().iter().map(|part| values(py, part)).collect::<PyResult<Vec<_>>>()?;
    let names: Vec<_> = column.column_names().into_iter().map(|name| PyString::new(py, name)).collect();
    convert(py, array, |row| {
        let fields = PyDict::new(py);
        for (name, part) in names.iter().zip(&parts) {
            fields.set_item(name, &part[row])?;
        }
        Ok(fields.into_any())
    })
}

/// A dict per row, or a list of pairs if a key cannot be a dict key.
fn maps<'py>(py: Python<'py>, array: &ArrayRef) -> Values<'py> {
    convert(py, array, |row| {
        let entries = array.as_map().value(row);
        let (keys, items) = (values(py, entries.column(0))?, values(py, entries.column(1))?);
        if entries.column(0).data_type().is_nested() {
            return Ok(PyList::new(py, keys.into_iter().zip(items))?.into_any());
        }
        let found = PyDict::new(py);
        for (key, item) in keys.into_iter().zip(items) {
            found.set_item(key, item)?;
        }
        Ok(found.into_any())
    })
}

fn timestamps<'py>(py: Python<'py>, array: &ArrayRef, per_second: i64, zoned: bool) -> Values<'py> {
    let counts = integers(array)?;
    let counts = counts.as_primitive::<Int64Type>();
    let options = FormatOptions::default().with_timestamp_tz_format(Some("%:z"));
    let zones = ArrayFormatter::try_new(array, &options).map_err(to_python)?;
    texts(py, array, |row| {
        let count = counts.value(row);
        if let Some(text) = endless(count, i64::MAX) {
            return text;
        }
        if !zoned {
            return clock::timestamp(count, per_second, 0);
        }
        let zone = zones.value(row).try_to_string().unwrap_or_else(|_| "+00:00".to_owned());
        let (offset, shown) = clock::offset(&zone);
        format!("{}{shown}", clock::timestamp(count, per_second, offset))
    })
}

fn intervals<'py>(py: Python<'py>, array: &ArrayRef, unit: IntervalUnit) -> Values<'py> {
    match unit {
        IntervalUnit::YearMonth => {
            let months = array.as_primitive::<IntervalYearMonthType>();
            texts(py, array, |row| clock::interval(months.value(row).into(), 0, 0))
        }
        IntervalUnit::DayTime => {
            let times = array.as_primitive::<IntervalDayTimeType>();
            texts(py, array, |row| {
                let time = times.value(row);
                clock::interval(0, time.days.into(), i64::from(time.milliseconds) * 1000)
            })
        }
        IntervalUnit::MonthDayNano => {
            let times = array.as_primitive::<IntervalMonthDayNanoType>();
            texts(py, array, |row| {
                let time = times.value(row);
                clock::interval(time.months.into(), time.days.into(), time.nanoseconds / 1000)
            })
        }
    }
}

/// The largest count and its negative mean infinity.
fn endless(count: i64, largest: i64) -> Option<String> {
    match count {
        _ if count == largest => Some("infinity".to_owned()),
        _ if count == -largest => Some("-infinity".to_owned()),
        _ => None,
    }
}

fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// The integers of times, whatever their width.
fn integers(array: &ArrayRef) -> PyResult<ArrayRef> {
    let plain = match array.data_type() {
        DataType::Time32(_) => cast(array, &DataType::Int32),
        _ => Ok(array.clone()),
    };
    plain.and_then(|plain| cast(&plain, &DataType::Int64)).map_err(to_python)
}

fn formatter(array: &ArrayRef) -> PyResult<ArrayFormatter<'_>> {
    ArrayFormatter::try_new(array, &PLAIN).map_err(to_python)
}

static PLAIN: FormatOptions<'static> = FormatOptions::new();

fn decimal_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static DECIMAL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    DECIMAL.import(py, "decimal", "Decimal")
}
