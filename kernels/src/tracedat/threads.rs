//! Look up the name of each event's thread in the saved names of threads.

use rustc_hash::FxHashMap;

use crate::input::bytes::until_zero;

/// Names printed by ftrace for the idle thread, and for threads without a saved name.
const IDLE: &[u8] = b"<idle>";
const UNKNOWN: &[u8] = b"<...>";

/// Maximum number of names added for threads.
const LIMIT: usize = 1 << 20;

/// Number of threads in the cache without hashing; a power of two.
const RECENT: usize = 256;

/// Names of threads, and their numbers by the threads' ids.
pub struct Threads {
    names: Vec<Vec<u8>>,
    numbers: FxHashMap<i64, usize>,
    /// A cache by the last bits of threads' ids: ids, and the numbers of their names.
    recent: Box<[(i64, usize)]>,
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
        let mut threads = Threads {
            names: vec![UNKNOWN.to_vec(), IDLE.to_vec()],
            numbers: FxHashMap::default(),
            recent: vec![(0, 1); RECENT].into(),
        };
        for (pid, name) in saved(text) {
            threads.put(pid, name);
        }
        threads.numbers.insert(0, 1);
        threads
    }

    fn put(&mut self, pid: i64, name: &[u8]) {
        self.numbers.insert(pid, self.names.len());
        self.names.push(name.to_vec());
    }

    /// The number of a thread's name, if it is known.
    #[inline]
    fn number(&mut self, pid: i64) -> Option<usize> {
        let recent = &mut self.recent[pid as usize & (RECENT - 1)];
        if recent.0 != pid {
            *recent = (pid, *self.numbers.get(&pid)?);
        }
        Some(recent.1)
    }

    /// Add the name of a thread that was not saved, from a record: padded with zero bytes.
    #[inline]
    pub fn learn<'a>(&mut self, pid: i64, name: &dyn Fn() -> Option<&'a [u8]>) {
        if self.number(pid).is_none()
            && self.names.len() < LIMIT
            && let Some(name) = name()
        {
            self.put(pid, until_zero(name));
        }
    }

    /// The name of a thread, and the unique number of the name.
    #[inline]
    pub fn name(&mut self, pid: i64) -> (usize, &[u8]) {
        let number = self.number(pid).unwrap_or(0);
        let name = self.names.get(number);
        (number, name.map_or(UNKNOWN, Vec::as_slice))
    }
}
