//! Names of the kernel's threads, from its events.

use rustc_hash::FxHashMap;

use crate::columns::{Interner, Key};
use crate::rows::Rows;

/// Maximum number of threads with names, and of numbered names.
const MOST: usize = 1 << 20;
/// Maximum bytes of a name in the kernel.
const LENGTH: usize = 16;

/// A name, truncated like in the kernel.
#[derive(Clone, Copy, Default)]
pub struct Comm {
    bytes: [u8; LENGTH],
    length: u8,
    key: Key,
    number: Option<u32>,
}

impl Comm {
    #[inline]
    pub fn text(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or_default()
    }

    #[inline]
    fn is(&self, text: &[u8]) -> bool {
        self.key.is_whole() && self.key == Key::of(text)
    }

    /// Put the name into a column.
    #[inline]
    pub fn put(&self, rows: &mut Rows, column: usize) {
        match self.number {
            Some(number) => rows.numbered(column, number as usize, || self.text()),
            None => rows.text(column, self.text()),
        }
    }

    /// Put a text into a column; it often equals this name.
    #[inline]
    pub fn put_text(&self, rows: &mut Rows, column: usize, text: &[u8]) {
        match self.is(text) {
            true => self.put(rows, column),
            false => rows.text(column, text),
        }
    }
}

/// The names of all threads.
#[derive(Default)]
pub struct Comms {
    threads: FxHashMap<i64, Comm>,
    names: Interner,
}

impl Comms {
    /// A name in its stored form.
    pub fn comm(&mut self, text: &[u8]) -> Comm {
        let text = text.get(..LENGTH).unwrap_or(text);
        let mut bytes = [0; LENGTH];
        for (to, from) in bytes.iter_mut().zip(text) {
            *to = *from;
        }
        let is_known = self.names.len() < MOST || self.names.find(text).is_some();
        Comm {
            bytes,
            length: text.len() as u8,
            key: Key::of(text),
            number: is_known.then(|| self.names.intern(text) as u32),
        }
    }

    /// The name of a thread.
    #[inline]
    pub fn get(&self, pid: i64) -> Option<Comm> {
        self.threads.get(&pid).copied()
    }

    /// Store the name of a thread, and return its stored form.
    #[inline]
    pub fn keep(&mut self, pid: i64, text: &[u8]) -> Comm {
        match self.get(pid) {
            Some(comm) if comm.is(text) => comm,
            _ => {
                let comm = self.comm(text);
                self.put(pid, comm);
                comm
            }
        }
    }

    /// Store the current name of a thread.
    #[inline]
    pub fn put(&mut self, pid: i64, comm: Comm) {
        if let Some(known) = self.threads.get_mut(&pid) {
            *known = comm;
        } else if self.threads.len() < MOST {
            self.threads.insert(pid, comm);
        }
    }
}
