//! Read a stored table of recorded calls block by block, and select the calls that the filters show.

use std::path::Path;

use arrow_schema::ArrowError;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::engine::{Call, Engine};
use super::functions::Functions;
use super::missed::Missed;
use super::patterns::Book;
use super::rules::Rules;
use super::stored::{Block, CallState, Codes, FunctionMetadata, Stored, Wanted, integer, text};
use crate::sweeps::{Cancel, Token, fail};

/// Number of calls decided before their results are used: few, so that they stay in the cache.
const STEP: usize = 512;

/// Options for reading and filtering.
#[derive(FromPyObject)]
pub struct CallSource {
    pub rules: Rules,
    /// Only these threads; all if empty.
    pub tids: Vec<i64>,
    /// Name, module, size and file of functions, where filters or columns need these.
    pub functions: Vec<(String, String, Option<i64>, Option<String>)>,
    /// Modules matter: they distinguish functions of one name.
    pub by_module: bool,
    /// Filters use arguments.
    pub by_arguments: bool,
    /// Receives the unmatched words, at the end.
    pub missed: Missed,
}

/// A call to decide.
pub struct Taken<'a> {
    pub block: &'a Block,
    pub row: usize,
    pub time: i64,
    pub length: Option<i64>,
    pub function: u32,
    pub state: CallState,
}

/// Reads and filters calls.
pub struct Walk<T> {
    stored: Stored,
    /// The current block, and the place of the next call in it.
    block: Option<(Block, usize)>,
    codes: Codes,
    pub engine: Engine<T>,
    tids: Vec<i64>,
    missed: Missed,
    /// Numbers of threads, and the latest one.
    numbers: FxHashMap<i64, u32>,
    latest: Option<(i64, u32)>,
    cancel: Token,
}

impl<T: Clone> Walk<T> {
    pub fn open(
        path: &Path,
        source: CallSource,
        wanted: Wanted,
        cancel: Option<PyRef<'_, Cancel>>,
    ) -> Result<Self, ArrowError> {
        let mut rules = source.rules;
        let book = Book::new(std::mem::take(&mut rules.rules), &rules.kind).map_err(fail)?;
        let metadata: FunctionMetadata =
            source.functions.into_iter().map(|(name, module, size, file)| ((name, module), (size, file))).collect();
        let wanted = Wanted {
            modules: wanted.modules || source.by_module || !metadata.is_empty(),
            args: wanted.args || source.by_arguments,
            ..wanted
        };
        let engine = Engine::new(rules, Functions::new(book));
        if engine.switching {
            return Err(fail("what is shown of a call depends on when it is left"));
        }
        Ok(Self {
            stored: Stored::open(path, wanted)?,
            block: None,
            codes: Codes::new(metadata),
            engine,
            tids: source.tids,
            missed: source.missed,
            numbers: FxHashMap::default(),
            latest: None,
            cancel: Token::new(cancel),
        })
    }

    /// Decides some more calls, until there are none; `describe` makes the data of each shown call.
    #[inline]
    pub fn step(&mut self, describe: impl Fn(&Taken) -> T) -> Result<bool, ArrowError> {
        let (block, first) = match self.block.take() {
            Some(current) => current,
            None => {
                self.cancel.check()?;
                let Some(block) = self.stored.next()? else {
                    self.engine.functions.tell(&self.missed);
                    return Ok(false);
                };
                self.codes.load(&block);
                (block, 0)
            }
        };
        let last = block.len().min(first + STEP);
        for place in first..last {
            let row = block.row(place);
            let tid = block.tids.value(row);
            if !self.tids.is_empty() && !self.tids.contains(&tid) {
                continue;
            }
            let thread = self.thread(tid);
            let state = self.codes.state(&block, row);
            let function = self.codes.function(&mut self.engine.functions, &block, row)?;
            let time = block.times.value(row);
            let length = integer(&block.lengths, row);
            let taken = Taken { block: &block, row, time, length, function, state };
            self.engine.enter(&Call {
                more: describe(&taken),
                time,
                thread,
                id: block.ids.value(row),
                parent: integer(&block.parents, row),
                end: length.map(|length| time.saturating_add(length.max(0))),
                marks: state.marks,
                function,
                args: text(&block.args, row),
            });
        }
        if last < block.len() {
            self.block = Some((block, last));
        }
        Ok(true)
    }

    #[inline]
    fn thread(&mut self, tid: i64) -> u32 {
        if let Some((latest, number)) = self.latest
            && latest == tid
        {
            return number;
        }
        let fresh = self.numbers.len() as u32;
        let number = *self.numbers.entry(tid).or_insert(fresh);
        self.latest = Some((tid, number));
        number
    }

    /// The numbers of threads.
    pub fn threads(&self) -> FxHashMap<i64, u32> {
        self.numbers.clone()
    }
}
