//! The metadata of one table, collected from its decoded chunks in order.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use rustc_hash::FxHashMap;

use super::chunk::Decoded;
use super::decode::{EVENT_COLUMNS, METADATA_COLUMNS};
use super::hash_texts::Tellings;
use super::hashes::{Book, Texts, resolution};
use super::names::LINE;
use super::report::{Report, Trouble};
use super::tables::{Lineage, TableColumn, Timed, is_wanted};
use super::trace_metadata::{ColumnMetadata, EventMetadata, Version, kind_name};
use crate::columns::{Interner, Kind, Traits};

const CATEGORY: usize = 2;
/// Categories of an event that are kept: two are enough to show that there are several.
const CATEGORIES: usize = 2;
/// The event with the version of the writer in its column `version`.
const START: &str = "start";
const VERSION: &str = "version";

/// Numbers of names in order of first appearance.
#[derive(Default)]
pub struct Names(Interner);

impl Names {
    pub fn id(&mut self, name: &str) -> usize {
        self.0.intern(name.as_bytes())
    }
}

/// Lines of a chunk whose events were dropped.
pub type Dropped = Vec<u32>;

struct GrowingColumn {
    name: String,
    /// Its name in the whole trace.
    shown: String,
    traits: Traits,
    empty: bool,
    /// Some chunk was returned with floats in it.
    floats: bool,
    resolves: bool,
}

/// A table, from the chunks so far.
pub struct Growing {
    name: String,
    names: Names,
    columns: Vec<GrowingColumn>,
    rows: u64,
    first_file: Option<usize>,
    pub invalid: u64,
    categories: Vec<Option<String>>,
    versions: Vec<Version>,
    /// Rows by column, file and hash, for hashes that may lack a text.
    open: BTreeMap<(usize, usize), FxHashMap<Vec<u8>, [u64; 2]>>,
    /// Events with an unrepresentable time: count and example, by file.
    overflows: BTreeMap<usize, (u64, String)>,
}

impl Growing {
    pub fn new(name: String) -> Growing {
        Growing {
            name,
            names: Names::default(),
            columns: Vec::new(),
            rows: 0,
            first_file: None,
            invalid: 0,
            categories: Vec::new(),
            versions: Vec::new(),
            open: BTreeMap::new(),
            overflows: BTreeMap::new(),
        }
    }

    /// The table of metadata records, which has columns even without rows.
    pub fn of_metadata() -> Growing {
        let mut table = Growing::new("metadata".to_owned());
        for name in METADATA_COLUMNS {
            table.place(name, name);
        }
        table
    }

    /// The place of a column, which is added if it is new.
    fn place(&mut self, name: &str, shown: &str) -> usize {
        let place = self.names.id(name);
        if place == self.columns.len() {
            self.columns.push(GrowingColumn {
                name: name.to_owned(),
                shown: shown.to_owned(),
                traits: Traits { kind: Kind::Empty, negative: false, inexact: false },
                empty: true,
                floats: false,
                resolves: false,
            });
        }
        place
    }

    /// Record the columns of a chunk; returns their places in the table.
    fn learn(&mut self, table: &Decoded) -> Vec<usize> {
        let schema = table.batch.schema();
        let columns = table.names.iter().zip(schema.fields()).zip(&table.traits);
        let mut places = Vec::with_capacity(table.names.len());
        for (index, ((name, field), traits)) in columns.enumerate() {
            let place = self.place(name, field.name());
            let array = table.batch.column(index);
            let column = &mut self.columns[place];
            column.traits = column.traits.with(*traits);
            column.empty &= array.null_count() == array.len();
            column.floats |= traits.kind == Kind::Float;
            places.push(place);
        }
        self.invalid += table.invalid;
        places
    }

    /// Add the next chunk of a table of metadata; returns it for output.
    pub fn metadata(&mut self, table: Decoded) -> Result<RecordBatch, ArrowError> {
        self.learn(&table);
        let columns = table.names.into_iter().zip(table.batch.columns().to_vec());
        batch(columns, table.batch.num_rows())
    }

    /// Add the next chunk of events.
    pub fn event(
        &mut self,
        table: Decoded,
        file: usize,
        factor: i64,
        tellings: Option<&Tellings>,
    ) -> Result<(RecordBatch, Dropped, Timed), ArrowError> {
        let places = self.learn(&table);
        self.first_file.get_or_insert(file);
        for (column, seen) in table.seen {
            self.see(places[column], file, &seen, tellings);
        }
        let mut timed = Timed::new(&table.batch);
        if let Some(dur) = timed.columns.get_mut(1).map(|column| &mut column.array)
            && dur.null_count() == dur.len()
        {
            *dur = new_null_array(&DataType::Int64, dur.len());
        }
        let lines = UInt32Array::from(table.lines);
        timed.columns.push(TableColumn {
            name: LINE.to_owned(),
            lineage: Lineage::Column(timed.columns.len()),
            array: Arc::new(lines.clone()),
        });
        timed.scale(factor)?;
        if timed.overflows > 0 {
            let (ts, dur) = timed.overflow;
            let example = || (0, format!("event {}: ts {ts}, dur {dur}", self.name));
            self.overflows.entry(file).or_insert_with(example).0 += timed.overflows;
        }
        let arrays: Vec<ArrayRef> = std::mem::take(&mut timed.columns).into_iter().map(|column| column.array).collect();
        let rows = arrays.first().map_or(0, |array| array.len());
        self.rows += rows as u64;
        self.learn_values(&table.names, &arrays);
        let dropped = dropped(&lines, arrays.last());
        let mut names = table.names;
        names.push(LINE.to_owned());
        let batch = batch(names.into_iter().zip(arrays), rows)?;
        Ok((batch, dropped, timed))
    }

    /// Record the hashes of a column that may lack a text.
    fn see(&mut self, place: usize, file: usize, seen: &super::chunk::Seen, tellings: Option<&Tellings>) {
        let Some((kinds, _)) = resolution(&self.columns[place].shown) else {
            return;
        };
        for (hash, counts) in seen.iter() {
            let clear = |tellings: &Tellings| tellings.is_clear(file, kinds[0], hash);
            if tellings.is_some_and(clear) {
                self.columns[place].resolves = true;
                continue;
            }
            let known = self.open.entry((place, file)).or_default();
            let known = known.entry(hash.to_vec()).or_default();
            known[0] += counts[0];
            known[1] += counts[1];
        }
    }

    fn learn_values(&mut self, names: &[String], arrays: &[ArrayRef]) {
        if let Some(array) = arrays.get(CATEGORY) {
            categories(array, &mut self.categories);
        }
        let fixed = EVENT_COLUMNS.len();
        if self.name == START
            && let Some(place) = names.iter().skip(fixed).position(|name| name == VERSION)
            && let Some(array) = arrays.get(fixed + place)
        {
            versions(array, &mut self.versions);
        }
    }

    /// Whether chunks were returned with a type that cannot be converted to the final one.
    pub fn again(&self) -> bool {
        let lost = |column: &GrowingColumn| column.floats && column.traits.kind == Kind::Text;
        self.columns.iter().any(lost)
    }

    /// The versions of the writer, as in the final column.
    pub fn versions(&self) -> Vec<Version> {
        let kind = self
            .columns
            .iter()
            .skip(EVENT_COLUMNS.len())
            .find(|column| column.name == VERSION)
            .map_or(Kind::Empty, |column| column.traits.kind);
        let mut found: Vec<Version> = Vec::new();
        for version in &self.versions {
            let version = match (kind, version.clone()) {
                (Kind::Text, Version::Bool(value)) => Version::Text(value.to_string()),
                (Kind::Text, Version::Int(value)) => Version::Text(value.to_string()),
                (Kind::Text, Version::Uint(value)) => Version::Text(value.to_string()),
                (Kind::Float, Version::Int(value)) => Version::Float(value as f64),
                (_, version) => version,
            };
            if !found.contains(&version) {
                found.push(version);
            }
        }
        found
    }

    pub fn columns(&self) -> Vec<ColumnMetadata> {
        let trace_metadata = |column: &GrowingColumn| ColumnMetadata {
            name: column.name.clone(),
            kind: kind_name(column.traits.kind),
            empty: column.empty,
            resolves: column.resolves,
        };
        self.columns.iter().map(trace_metadata).collect()
    }

    /// The metadata of the table, after all chunks.
    pub fn finish(mut self, book: &Book, report: &mut Report) -> EventMetadata {
        if self.invalid > 0 {
            let file = self.first_file.unwrap_or_default();
            let example = format!("event {}", self.name);
            report.note(file, Trouble::NotUtf8, self.invalid, &example);
        }
        for ((place, file), hashes) in std::mem::take(&mut self.open) {
            let Some((kinds, text)) = resolution(&self.columns[place].shown) else {
                continue;
            };
            let direct = self
                .columns
                .iter()
                .any(|column| column.shown == text && matches!(column.traits.kind, Kind::Text | Kind::Empty));
            let mut missing = 0;
            for (hash, counts) in hashes {
                if book.has(kinds, &hash, file) {
                    self.columns[place].resolves = true;
                } else {
                    missing += counts[0] + if direct { 0 } else { counts[1] };
                }
            }
            let name = &self.columns[place].shown;
            if missing > 0 && is_wanted(name) {
                let example = format!("{name} of {}", self.name);
                report.note(file, Trouble::UnknownHash, missing, &example);
            }
        }
        for (file, (count, example)) in &self.overflows {
            report.note(*file, Trouble::TimeOverflow, *count, example);
        }
        EventMetadata { columns: self.columns(), name: self.name, rows: self.rows, categories: self.categories }
    }
}

/// A batch of the columns that have values; times, durations and lines are always included.
fn batch(columns: impl Iterator<Item = (String, ArrayRef)>, rows: usize) -> Result<RecordBatch, ArrowError> {
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns
        .filter(|(name, array)| array.null_count() < rows || matches!(name.as_str(), "_ts" | "dur"))
        .map(|(name, array)| (Field::new(name, array.data_type().clone(), true), array))
        .unzip();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
}

fn dropped(lines: &UInt32Array, kept: Option<&ArrayRef>) -> Dropped {
    let kept = kept.and_then(|array| array.as_primitive_opt::<UInt32Type>());
    let mut kept = kept.map_or(&[][..], |array| array.values()).iter().peekable();
    let gone = |line: &&u32| kept.next_if(|next| next == line).is_none();
    lines.values().iter().filter(gone).copied().collect()
}

fn categories(array: &ArrayRef, found: &mut Vec<Option<String>>) {
    let mut add = |category: Option<&[u8]>| {
        let category = category.map(String::from_utf8_lossy);
        if found.len() < CATEGORIES && !found.iter().any(|known| known.as_deref() == category.as_deref()) {
            found.push(category.map(String::from));
        }
    };
    let Some(texts) = Texts::of(array) else {
        // Categories that are not texts are of no use.
        add(None);
        return add(Some(b""));
    };
    let mut last = None;
    for row in 0..array.len() {
        let category = texts.get(row);
        if last != Some(category) {
            add(category);
            last = Some(category);
        }
    }
}

fn versions(array: &ArrayRef, found: &mut Vec<Version>) {
    let mut add = |version: Version| {
        if !found.contains(&version) {
            found.push(version);
        }
    };
    let rows = (0..array.len()).filter(|row| array.is_valid(*row));
    let ints = array.as_primitive_opt::<Int64Type>();
    let uints = array.as_primitive_opt::<UInt64Type>();
    let floats = array.as_primitive_opt::<Float64Type>();
    let bools = array.as_boolean_opt();
    let texts = Texts::of(array);
    for row in rows {
        if let Some(values) = ints {
            add(Version::Int(values.value(row)));
        } else if let Some(values) = uints {
            let value = values.value(row);
            add(i64::try_from(value).map_or(Version::Uint(value), Version::Int));
        } else if let Some(values) = floats {
            add(Version::Float(values.value(row)));
        } else if let Some(values) = bools {
            add(Version::Bool(values.value(row)));
        } else if let Some(text) = texts.as_ref().and_then(|texts| texts.get(row)) {
            add(Version::Text(String::from_utf8_lossy(text).into_owned()));
        }
    }
}
