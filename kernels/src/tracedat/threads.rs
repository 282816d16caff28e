//! The saved names of threads -> the name of each event's thread.

use rustc_hash::FxHashMap;

use crate::tracepoints::until_zero;

/// What ftrace prints for the thread that idles, and for threads whose names were not saved.
const IDLE: &[u8] = b"<idle>";
const UNKNOWN: &[u8] = b"<...>";

/// How many threads' names are learnt.
const LIMIT: usize = 1 << 20;

/// Names of threads by their ids.
#[derive(Default)]
pub struct Threads {
    names: FxHashMap<i64, Vec<u8>>,
}

/// The threads and names in the text of `saved_cmdlines`: `1234 python3`.
pub fn saved(text: &[u8]) -> impl Iterator<Item = (i64, &[u8])> {
    text.split(|b| *b == b'\n').filter_map(|line| {
        let line = line.trim_ascii();
        let blank = memchr::memchr(b' ', line)?;
        let pid = str::from_utf8(&line[..blank]).ok()?.parse().ok()?;
        Some((pid, line[blank + 1..].trim_ascii_start()))
    })
}

impl Threads {
    pub fn parse(text: &[u8]) -> Threads {
        let names = saved(text).map(|(pid, name)| (pid, name.to_vec()));
        Threads {
            names: names.collect(),
        }
    }

    /// Learn the name of a thread that was not saved, as a record has it: with zero bytes behind it.
    #[inline]
    pub fn learn(&mut self, pid: i64, name: &[u8]) {
        if pid != 0 && !self.names.contains_key(&pid) && self.names.len() < LIMIT {
            self.names.insert(pid, until_zero(name).to_vec());
        }
    }

    /// The name of a thread.
    #[inline]
    pub fn name(&self, pid: i64) -> &[u8] {
        match pid {
            0 => IDLE,
            _ => self.names.get(&pid).map_or(UNKNOWN, Vec::as_slice),
        }
    }
}
