//! `stack_history`, `stack_contents`: convert pushes and pops to spans of equal stacks, and list each stack's contents.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array};
use arrow_schema::{ArrowError, DataType, FieldRef};
use pyo3::prelude::*;

use super::cancel::{Cancel, Token};
use super::checks::lasting;
use super::counter::{Counter, Tally};
use super::failure::{fail, to_python};
use super::moves::{Move, Moves};
use super::partition::Partitions;
use super::slots::{End, NO_SLOT, Slots};
use super::source::{ROWS, STEP};
use super::stream::{Sweep, int64, made, nullable, schema, stream};
use super::trie::{EMPTY, Trie};
use crate::exchange::{InputStream, OutputStream};

struct History {
    moves: Moves,
    partitions: Partitions,
    tokens: Partitions,
    /// Codes of the tokens of the current chunk of pushes.
    codes: Vec<u32>,
    trie: Trie,
    stacks: Vec<Stack>,
    slots: Slots<Slot>,
    out: Vec<Slot>,
    ignored: Tally,
}

/// The current stack of a partition, and the slot of its span.
#[derive(Clone, Copy)]
struct Stack {
    now: u32,
    slot: u64,
}

/// A span from its beginning on.
struct Slot {
    ts: i64,
    code: u32,
    stack: u32,
    end: End,
}

impl History {
    fn run(&mut self) -> Result<(), ArrowError> {
        for _ in 0..STEP {
            let Some(next) = self.moves.next() else {
                return Ok(());
            };
            match next {
                Move::Push { t, code, place, .. } => {
                    let below = self.stacks[code as usize].now;
                    let stack = self.trie.push(below, self.codes[place])?;
                    self.change(t, code, stack);
                }
                Move::Pop { t, code, .. } => match self.trie.pop(self.stacks[code as usize].now) {
                    Some(stack) => self.change(t, code, stack),
                    None => {
                        self.ignored.add();
                    }
                },
            }
        }
        Ok(())
    }

    #[inline]
    fn change(&mut self, t: i64, code: u32, stack: u32) {
        let own = &mut self.stacks[code as usize];
        if let Some(slot) = self.slots.get(own.slot) {
            slot.end = if slot.ts < t { End::At(t) } else { End::Dropped };
        }
        own.now = stack;
        own.slot =
            if stack == EMPTY { NO_SLOT } else { self.slots.begin(Slot { ts: t, code, stack, end: End::Unknown }) };
    }

    fn settle(&mut self) {
        while self.out.len() < ROWS
            && let Some(slot) = self.slots.pop_if(|slot| slot.end != End::Unknown)
        {
            if slot.end != End::Dropped {
                self.out.push(slot);
            }
        }
    }

    /// Collect the next spans in order of time; none after the last.
    fn spans(&mut self) -> Result<Vec<Slot>, ArrowError> {
        loop {
            if self.moves.fill(&mut self.partitions)? {
                let column = self.moves.pushes.payload_column(self.moves.own())?;
                self.codes = self.tokens.encode(std::slice::from_ref(column), column.len())?;
                // Only the tokens of pushes are needed.
                self.moves.pushes.held.retain(std::iter::empty());
            }
            let none = Stack { now: EMPTY, slot: NO_SLOT };
            self.stacks.resize(self.partitions.len(), none);
            let done = self.moves.done();
            if done {
                self.ignored.show();
                let open = self.slots.iter_mut().filter(|slot| slot.end == End::Unknown);
                open.for_each(|slot| slot.end = End::Dropped);
            }
            self.settle();
            if self.out.len() >= ROWS || done {
                return Ok(std::mem::take(&mut self.out));
            }
            self.run()?;
        }
    }

    fn columns(&mut self, out: &[Slot]) -> Result<Vec<ArrayRef>, ArrowError> {
        let duration = |slot: &Slot| match slot.end {
            End::At(end) => lasting(slot.ts, end),
            End::Unknown | End::Dropped => Ok(0),
        };
        let durations = out.iter().map(duration).collect::<Result<Vec<_>, _>>()?;
        let mut columns = vec![int64(out.iter().map(|slot| slot.ts).collect()), int64(durations)];
        columns.extend(self.partitions.columns(out.iter().map(|slot| slot.code).collect())?);
        columns.push(int64(out.iter().map(|slot| self.trie.id(slot.stack)).collect()));
        Ok(columns)
    }
}

impl Sweep for History {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        let out = self.spans()?;
        if out.is_empty() {
            return Ok(None);
        }
        self.columns(&out).map(Some)
    }
}

struct Contents {
    history: History,
    /// The stacks in order of id, once they are known.
    stacks: Option<Vec<u32>>,
    given: usize,
    cancel: Token,
}

impl Contents {
    fn name(&mut self) -> Result<Vec<u32>, ArrowError> {
        loop {
            self.cancel.check()?;
            let out = self.history.spans()?;
            if out.is_empty() {
                return Ok(self.history.trie.named());
            }
            for slot in &out {
                self.history.trie.id(slot.stack);
            }
        }
    }
}

impl Sweep for Contents {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        let stacks = match self.stacks.take() {
            Some(stacks) => stacks,
            None => self.name()?,
        };
        let (mut ids, mut depths, mut tokens) = (Vec::new(), Vec::new(), Vec::new());
        while tokens.len() < ROWS
            && let Some(&stack) = stacks.get(self.given)
        {
            let first = tokens.len();
            self.history.trie.tokens(stack, &mut tokens);
            self.given += 1;
            ids.resize(tokens.len(), self.given as i64);
            depths.extend(0..(tokens.len() - first) as i32);
        }
        self.stacks = Some(stacks);
        if tokens.is_empty() {
            return Ok(None);
        }
        let mut columns = vec![int64(ids), Arc::new(Int32Array::from(depths)) as ArrayRef];
        columns.extend(self.history.tokens.columns(tokens)?);
        Ok(Some(columns))
    }
}

fn open(
    starts: InputStream,
    stops: InputStream,
    partitions: usize,
    ranked: bool,
    cancel: &Token,
) -> PyResult<(History, FieldRef)> {
    let (starts, stops) = (starts.into_reader(), stops.into_reader());
    let moves = Moves::new(starts, stops, partitions, ranked, cancel).map_err(to_python)?;
    build(moves).map_err(to_python)
}

fn build(moves: Moves) -> Result<(History, FieldRef), ArrowError> {
    let token = moves.pushes.payload_fields().get(moves.own()).cloned();
    let token = token.ok_or_else(|| fail("the start input has no token"))?;
    let types = moves.pushes.partition_types();
    let names: Vec<String> = moves.pushes.partition_fields().iter().map(|field| field.name().clone()).collect();
    let partitions = Partitions::new(&names, types)?;
    moves.check(&partitions)?;
    let tokens = Partitions::new(&["token".to_string()], vec![token.data_type().clone()])?;
    let history = History {
        moves,
        partitions,
        tokens,
        codes: Vec::new(),
        trie: Trie::default(),
        stacks: Vec::new(),
        slots: Slots::default(),
        out: Vec::new(),
        ignored: Tally::default(),
    };
    Ok((history, token))
}

#[pyfunction]
#[pyo3(signature = (starts, stops, *, partitions, ranked, names, cancel=None))]
pub fn stack_history(
    starts: InputStream,
    stops: InputStream,
    partitions: usize,
    ranked: bool,
    names: Vec<String>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<(OutputStream, Counter)> {
    let token = Token::new(cancel);
    let (history, _) = open(starts, stops, partitions, ranked, &token)?;
    let mut fields = vec![made(DataType::Int64, false); 2];
    fields.extend(nullable(history.moves.pushes.partition_fields()));
    fields.push(made(DataType::Int64, false));
    let schema = schema(fields, &names).map_err(to_python)?;
    let counter = history.ignored.counter();
    Ok((stream(schema, history, token), counter))
}

#[pyfunction]
#[pyo3(signature = (starts, stops, *, partitions, ranked, names, cancel=None))]
pub fn stack_contents(
    starts: InputStream,
    stops: InputStream,
    partitions: usize,
    ranked: bool,
    names: Vec<String>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<(OutputStream, Counter)> {
    let cancel = Token::new(cancel);
    let (history, token) = open(starts, stops, partitions, ranked, &cancel)?;
    let mut fields = vec![made(DataType::Int64, false), made(DataType::Int32, false)];
    fields.extend(nullable(vec![token]));
    let schema = schema(fields, &names).map_err(to_python)?;
    let counter = history.ignored.counter();
    let contents = Contents { history, stacks: None, given: 0, cancel: cancel.clone() };
    Ok((stream(schema, contents, cancel), counter))
}
