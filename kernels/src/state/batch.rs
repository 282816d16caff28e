//! Apply batches of changes to a history, one change after the other.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, TimeUnit};

use super::cell::{Cell, Kind};
use super::fault::Fault;
use super::history::{Action, History};

/// A column cast to another type; a value that does not fit is an error, not NULL.
fn cast(column: &ArrayRef, kind: &DataType) -> Result<ArrayRef, Fault> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(column, kind, &options).map_err(|error| Fault::Value(error.to_string()))
}

/// Times in ns.
fn times(column: &ArrayRef) -> Result<ArrayRef, Fault> {
    let column = match column.data_type() {
        DataType::Timestamp(_, zone) => cast(column, &DataType::Timestamp(TimeUnit::Nanosecond, zone.clone()))?,
        DataType::Duration(_) => cast(column, &DataType::Duration(TimeUnit::Nanosecond))?,
        kind if kind.is_integer() => column.clone(),
        kind => {
            let text = format!("times are whole numbers of ns, found {kind}");
            return Err(Fault::Value(text));
        }
    };
    if column.null_count() > 0 {
        return Err(Fault::Value("a change has no time".to_owned()));
    }
    cast(&column, &DataType::Int64)
}

/// Texts of a column, each evaluated once.
struct Texts {
    keys: Vec<Option<u32>>,
    values: ArrayRef,
}

impl Texts {
    fn new(column: &ArrayRef) -> Result<Texts, Fault> {
        let DataType::Dictionary(_, _) = column.data_type() else {
            let values = cast(column, &DataType::Utf8)?;
            let keys = (0..values.len()).map(|row| values.is_valid(row).then_some(row as u32));
            return Ok(Texts { keys: keys.collect(), values });
        };
        let plain = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let column = cast(column, &plain)?;
        let coded = column.as_dictionary::<Int32Type>();
        let key = |row: usize| {
            let key = coded.key(row)?;
            coded.values().is_valid(key).then_some(key as u32)
        };
        Ok(Texts { keys: (0..coded.len()).map(key).collect(), values: coded.values().clone() })
    }

    /// Map each text, by row.
    fn each<T: Copy>(&self, mut of: impl FnMut(&str) -> Result<T, Fault>) -> Result<Vec<Option<T>>, Fault> {
        let values = self.values.as_string::<i32>();
        let mut known: Vec<Option<T>> = vec![None; values.len()];
        let each = self.keys.iter().map(|key| {
            let Some(key) = key.map(|key| key as usize) else {
                return Ok(None);
            };
            if known[key].is_none() {
                known[key] = Some(of(values.value(key))?);
            }
            Ok(known[key])
        });
        each.collect()
    }
}

enum Values {
    Whole(Int64Array, Kind),
    Real(Float64Array),
    Text(StringArray),
}

impl Values {
    fn new(column: &ArrayRef) -> Result<Values, Fault> {
        if let DataType::Dictionary(_, kind) = column.data_type() {
            return Values::new(&cast(column, kind)?);
        }
        let whole = |kind| {
            let column = cast(column, &DataType::Int64)?;
            Ok::<_, Fault>(Values::Whole(column.as_primitive().clone(), kind))
        };
        Ok(match column.data_type() {
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::UInt8 | DataType::UInt16 => {
                whole(Kind::Int)?
            }
            DataType::Int64 | DataType::UInt32 | DataType::UInt64 | DataType::Boolean | DataType::Null => {
                whole(Kind::Long)?
            }
            DataType::Float32 | DataType::Float64 => {
                Values::Real(cast(column, &DataType::Float64)?.as_primitive().clone())
            }
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                Values::Text(cast(column, &DataType::Utf8)?.as_string().clone())
            }
            other => return Err(Fault::Value(format!("a state cannot be a {other}"))),
        })
    }

    /// The value of a row, if there is one; integers have the attribute's kind.
    #[inline]
    fn cell(&self, row: usize, known: Kind) -> Result<Option<Cell>, Fault> {
        match self {
            Values::Whole(column, own) => {
                let kind = match known {
                    Kind::Int | Kind::Long => known,
                    _ => *own,
                };
                let valid = column.is_valid(row);
                valid.then(|| Cell::of_whole(column.value(row), kind)).transpose()
            }
            Values::Real(column) => Ok(column.is_valid(row).then(|| Cell::double(column.value(row)))),
            Values::Text(column) => column.is_valid(row).then(|| Cell::text(column.value(row))).transpose(),
        }
    }
}

/// Changes in columns.
pub struct Changes {
    times: ArrayRef,
    quarks: Vec<Option<i64>>,
    actions: Vec<Option<Action>>,
    values: Vec<Values>,
    order: Vec<u32>,
}

impl Changes {
    /// Read a batch with columns `time`, `quark` or `path`, optionally `action`, and values; missing attributes are
    /// created.
    ///
    /// # Errors
    /// A column is missing or has a wrong type.
    pub fn read(batch: &RecordBatch, history: &mut History, sort: bool) -> Result<Changes, Fault> {
        let column = |name: &str| batch.column_by_name(name);
        let missing = |name: &str| Fault::Value(format!("changes have no column `{name}`"));
        let times = times(column("time").ok_or_else(|| missing("time"))?)?;
        let quarks = match (column("quark"), column("path")) {
            (Some(quarks), _) => {
                let quarks = cast(quarks, &DataType::Int64)?;
                let quarks = quarks.as_primitive::<Int64Type>();
                quarks.iter().collect()
            }
            (None, Some(paths)) => Texts::new(paths)?.each(|path| history.attribute_of(path).map(i64::from))?,
            (None, None) => return Err(missing("path")),
        };
        let actions = match column("action") {
            Some(actions) => Texts::new(actions)?.each(Action::named)?,
            None => Vec::new(),
        };
        let schema = batch.schema();
        let known = ["time", "quark", "path", "action"];
        let values = schema.fields().iter().zip(batch.columns());
        let values = values.filter(|(field, _)| !known.contains(&field.name().as_str()));
        let values = values.map(|(_, column)| Values::new(column));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let mut order: Vec<u32> = (0..batch.num_rows() as u32).collect();
        if sort {
            let times = times.as_primitive::<Int64Type>().values();
            order.sort_by_key(|row| times[*row as usize]);
        }
        Ok(Changes { times, quarks, actions, values, order })
    }

    /// # Errors
    /// A change does not fit; those before it were applied.
    pub fn make(&self, history: &mut History) -> Result<(), Fault> {
        let times = self.times.as_primitive::<Int64Type>().values();
        for row in self.order.iter().map(|row| *row as usize) {
            let Some(quark) = self.quarks[row] else {
                return Err(Fault::Attribute(format!("the change at {} has no attribute", times[row])));
            };
            let action = self.actions.get(row).copied().flatten().unwrap_or(Action::Modify);
            let known = history.kind_for(history.tree.place(quark)?, action);
            let mut cell = Cell::default();
            for values in &self.values {
                if let Some(found) = values.cell(row, known)? {
                    cell = found;
                    break;
                }
            }
            history.change(times[row], quark, action, cell)?;
        }
        Ok(())
    }
}
