//! Collect the batches of one table into sorted runs of its rows.

use std::collections::HashMap;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::ArrowError;

use super::column::{Kind, Scratch, SorterColumn, Traits, kind_of};
use super::file::{Place, TempFile};
use super::order::Order;
use super::texts::Texts;
use crate::sweeps::fail;

pub const TS: &str = "_ts";
pub const FILE: &str = "dctv:file";
pub const LINE: &str = "dctv:line";

/// Maximum bytes and rows of a block, unless a single row is larger.
const BLOCK_BYTES: usize = 128 << 10;
const BLOCK_ROWS: usize = 4096;

/// Information about one column over all chunks.
pub struct Info {
    pub name: String,
    pub texts: Texts,
    /// The representations so far, one bit each.
    kinds: u8,
    traits: Traits,
}

impl Info {
    pub fn has(&self, kind: Kind) -> bool {
        self.kinds & (1 << kind as u8) != 0
    }

    /// Return the kind that holds the values of all chunks, as decoders mix them.
    pub fn mixed(&self) -> Kind {
        let has = |kind| self.has(kind);
        let text = has(Kind::Code) || has(Kind::Text);
        let whole = has(Kind::Int) || has(Kind::Uint);
        let sorts = [text, whole, has(Kind::Float), has(Kind::Bool)];
        match sorts {
            [false, false, false, false] => Kind::Empty,
            [false, true, false, false] if !has(Kind::Uint) => Kind::Int,
            [false, true, false, false] if !self.traits.negative => Kind::Uint,
            [false, false, true, false] => Kind::Float,
            [false, true, true, false] if !has(Kind::Uint) && !self.traits.inexact => Kind::Float,
            [false, false, false, true] => Kind::Bool,
            _ => Kind::Text,
        }
    }

    fn learn(&mut self, kind: Kind, traits: Traits) {
        if kind != Kind::Empty {
            self.kinds |= 1 << kind as u8;
        }
        self.traits.negative |= traits.negative;
        self.traits.inexact |= traits.inexact;
    }
}

/// Rows in order of arrival.
#[derive(Default)]
pub struct Pending {
    pub columns: Vec<SorterColumn>,
    pub rows: usize,
}

impl Pending {
    fn memory(&self) -> usize {
        let columns = self.columns.iter().map(|c| size_of::<SorterColumn>() + c.memory());
        columns.sum()
    }

    /// Return the output order of the rows: by time, equal times in order of arrival.
    pub fn settle(&mut self, times: Option<usize>) -> Order {
        let times = times.and_then(|place| self.columns.get(place));
        let Some(times) = times else {
            return Order::of_all(self.rows);
        };
        let order = Order::by_time(&times.ints);
        if order.is_scattered() {
            self.columns.iter_mut().for_each(|one| one.ints.settle());
        }
        order
    }
}

/// Rows in order of time.
pub struct Run {
    pub blocks: Vec<Place>,
}

pub struct Table {
    pub name: String,
    pub sorted: bool,
    pub columns: Vec<Info>,
    places: HashMap<String, usize>,
    pub pending: Pending,
    pub runs: Vec<Run>,
    pub rows: u64,
    /// Bytes of waiting rows, and of dictionaries.
    pub memory: usize,
    pub dictionaries: usize,
}

impl Table {
    pub fn new(name: String, sorted: bool) -> Table {
        Table {
            name,
            sorted,
            columns: Vec::new(),
            places: HashMap::new(),
            pending: Pending::default(),
            runs: Vec::new(),
            rows: 0,
            memory: 0,
            dictionaries: 0,
        }
    }

    /// The column of times to sort by.
    pub fn times(&self) -> Option<usize> {
        let place = self.places.get(TS).copied();
        place.filter(|_| self.sorted)
    }

    fn place(&mut self, name: &str) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.columns.len();
        self.places.insert(name.to_owned(), place);
        self.columns.push(Info { name: name.to_owned(), texts: Texts::default(), kinds: 0, traits: Traits::default() });
        place
    }

    /// Append the rows of a batch; `short` is whether dictionaries must not grow.
    pub fn add(
        &mut self,
        file: u32,
        batch: &RecordBatch,
        spill: &TempFile,
        scratch: &mut Scratch,
        short: bool,
    ) -> Result<(), ArrowError> {
        let fields = batch.schema_ref().fields().iter().zip(batch.columns());
        let mut taken: Vec<(usize, &ArrayRef, Kind)> = Vec::with_capacity(batch.num_columns());
        for (field, array) in fields {
            if field.name() == LINE || field.name() == FILE {
                continue;
            }
            let place = self.place(field.name());
            if short {
                self.columns[place].texts.cap(1 << 10);
            }
            let kind = kind_of(array, &mut self.columns[place].texts)
                .map_err(|error| fail(format!("column `{}` of `{}`: {error}", field.name(), self.name)))?;
            taken.push((place, array, kind));
        }
        self.check(&taken)?;
        let rows = self.pending.rows.saturating_add(batch.num_rows());
        let columns = &self.pending.columns;
        let clash = |(place, _, kind): &(usize, &ArrayRef, Kind)| {
            columns.get(*place).is_some_and(|column| !column.takes(*kind))
        };
        if taken.iter().any(clash) || u32::try_from(rows).is_err() {
            self.write(spill, scratch)?;
        }
        self.append(file, &taken, batch.num_rows(), scratch);
        Ok(())
    }

    fn check(&self, taken: &[(usize, &ArrayRef, Kind)]) -> Result<(), ArrowError> {
        let mut seen = vec![false; self.columns.len()];
        for (place, ..) in taken {
            if std::mem::replace(&mut seen[*place], true) {
                let name = &self.columns[*place].name;
                return Err(fail(format!("`{}` has two columns `{name}`", self.name)));
            }
        }
        if !self.sorted {
            return Ok(());
        }
        let times = self.places.get(TS);
        let times = taken.iter().find(|(place, ..)| Some(place) == times);
        let known =
            times.is_some_and(|(_, array, kind)| array.is_empty() || (*kind == Kind::Int && array.null_count() == 0));
        if known {
            return Ok(());
        }
        Err(fail(format!("a time is missing in `{}`", self.name)))
    }

    fn append(&mut self, file: u32, taken: &[(usize, &ArrayRef, Kind)], rows: usize, scratch: &mut Scratch) {
        let files = self.place(FILE);
        let pending = &mut self.pending;
        while pending.columns.len() < self.columns.len() {
            let mut column = SorterColumn::new();
            column.pad(pending.rows);
            pending.columns.push(column);
        }
        let mut given = vec![false; self.columns.len()];
        for (place, array, kind) in taken {
            let info = &mut self.columns[*place];
            let traits = pending.columns[*place].append(array, *kind, &mut info.texts, scratch);
            info.learn(*kind, traits);
            given[*place] = true;
        }
        pending.columns[files].repeat(i64::from(file), rows);
        self.columns[files].learn(Kind::Int, Traits::default());
        given[files] = true;
        let missing = given.iter().zip(&mut pending.columns).filter(|(given, _)| !**given);
        missing.for_each(|(_, column)| column.pad(rows));
        pending.rows += rows;
        self.rows += rows as u64;
        self.memory = pending.memory();
        let infos = self.columns.iter().map(|info| size_of::<Info>() + info.texts.memory());
        self.dictionaries = infos.sum();
    }

    /// Write the waiting rows as one run.
    pub fn write(&mut self, spill: &TempFile, scratch: &mut Scratch) -> Result<(), ArrowError> {
        let mut pending = std::mem::take(&mut self.pending);
        self.memory = 0;
        if pending.rows == 0 {
            return Ok(());
        }
        let memory = pending.memory();
        let order = pending.settle(self.times());
        let step = block_rows(pending.rows, memory);
        let mut blocks = Vec::new();
        encode(&pending.columns, order, step, scratch, |block| {
            blocks.push(spill.write(block)?);
            Ok(())
        })?;
        self.runs.push(Run { blocks });
        Ok(())
    }
}

/// The number of rows of a block, for rows of this size.
pub fn block_rows(rows: usize, memory: usize) -> usize {
    let each = (memory / rows.max(1)).max(1);
    (BLOCK_BYTES / each).clamp(1, BLOCK_ROWS)
}

/// Pass rows on as the bytes of blocks, of `rows` rows each.
pub fn encode(
    columns: &[SorterColumn],
    mut order: Order,
    step: usize,
    scratch: &mut Scratch,
    mut block: impl FnMut(&[u8]) -> Result<(), ArrowError>,
) -> Result<(), ArrowError> {
    let mut bytes = Vec::new();
    loop {
        let rows = order.next(step);
        if rows.len() == 0 {
            return Ok(());
        }
        bytes.clear();
        bytes.extend((rows.len() as u32).to_le_bytes());
        bytes.extend((columns.len() as u32).to_le_bytes());
        columns.iter().for_each(|column| column.encode(rows, scratch, &mut bytes));
        block(&bytes)?;
    }
}
