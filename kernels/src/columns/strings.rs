//! Byte strings one after the other, and the set of distinct ones with a number for each.

use std::hash::Hasher;
use std::ops::Range;

use rustc_hash::FxHasher;

/// Byte strings in the order in which they were pushed.
#[derive(Default)]
pub struct Strings {
    ends: Vec<usize>,
    data: Vec<u8>,
}

impl Strings {
    #[inline]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn push(&mut self, value: &[u8]) {
        self.data.extend_from_slice(value);
        self.ends.push(self.data.len());
    }

    /// The start of a string.
    #[inline]
    fn start(&self, index: usize) -> usize {
        match index.checked_sub(1) {
            Some(before) => self.ends[before],
            None => 0,
        }
    }

    #[inline]
    pub fn get(&self, index: usize) -> &[u8] {
        &self.data[self.start(index)..self.ends[index]]
    }

    /// Append a range of other strings.
    pub fn extend(&mut self, from: &Strings, strings: Range<usize>) {
        let (start, before) = (from.start(strings.start), self.data.len());
        let ends = from.ends[strings].iter();
        self.ends.extend(ends.map(|end| end - start + before));
        let end = self.ends.last().copied().unwrap_or(0) + start - before;
        self.data.extend_from_slice(&from.data[start..end]);
    }

    /// Reserves room for more strings, with `bytes` bytes in all.
    pub fn reserve(&mut self, strings: usize, bytes: usize) {
        self.ends.reserve(strings);
        self.data.reserve(bytes);
    }

    /// Remove strings, or add empty ones, up to a number of them.
    pub fn resize(&mut self, len: usize) {
        self.ends.resize(len, self.data.len());
        self.data.truncate(self.ends.last().copied().unwrap_or(0));
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|i| self.get(i))
    }

    pub fn memory(&self) -> usize {
        // Untouched capacity takes no memory.
        self.ends.len() * size_of::<usize>() + self.data.len()
    }

    pub fn is_ascii(&self) -> bool {
        self.data.is_ascii()
    }

    /// The ends of the strings, and all of them one after the other.
    pub fn into_parts(self) -> (Vec<usize>, Vec<u8>) {
        (self.ends, self.data)
    }
}

/// Distinct byte strings, numbered from 0 in order of first appearance.
#[derive(Default)]
pub struct Interner {
    values: Strings,
    keys: Vec<Key>,
    /// Open addressing: 0 is free, otherwise the number + 1; the length is a power of two.
    slots: Vec<u32>,
    last: usize,
}

/// The key of a string: all of it if it has at most 16 bytes, as most have, otherwise its hash.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Key {
    length: usize,
    first: u64,
    last: u64,
}

impl Key {
    #[inline]
    pub fn of(value: &[u8]) -> Key {
        let length = value.len();
        let (first, last) = match (value.first_chunk(), value.last_chunk()) {
            (Some(first), Some(last)) if length <= 16 => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
            (Some(_), _) => Key::long(value),
            _ => Key::tiny(value),
        };
        Key { length, first, last }
    }

    fn long(value: &[u8]) -> (u64, u64) {
        let mut hasher = FxHasher::default();
        hasher.write(value);
        (hasher.finish(), 0)
    }

    /// Key of fewer than 8 bytes.
    #[inline]
    fn tiny(value: &[u8]) -> (u64, u64) {
        if let (Some(first), Some(last)) = (value.first_chunk(), value.last_chunk()) {
            let [first, last] = [first, last].map(|part| u64::from(u32::from_le_bytes(*part)));
            return (first | last << 32, 0);
        }
        let byte = |at: usize| value.get(at).map_or(0, |byte| u64::from(*byte));
        (byte(0) | byte(1) << 8 | byte(2) << 16, 0)
    }

    /// Whether no other string has this key.
    #[inline]
    pub fn is_whole(self) -> bool {
        self.length <= 16
    }

    #[inline]
    fn hash(self) -> usize {
        const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
        const LAST: u64 = 0xc2b2_ae3d_27d4_eb4f;
        let first = self.first ^ FIRST.wrapping_add(self.length as u64);
        let product = u128::from(first) * u128::from(self.last ^ LAST);
        (product as u64 ^ (product >> 64) as u64) as usize
    }
}

impl Interner {
    #[inline]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    #[inline]
    pub fn get(&self, id: usize) -> &[u8] {
        self.values.get(id)
    }

    pub fn get_or_empty(&self, id: usize) -> &[u8] {
        if id < self.len() { self.values.get(id) } else { b"" }
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.values.iter()
    }

    pub fn memory(&self) -> usize {
        let tables = self.keys.capacity() * size_of::<Key>() + self.slots.capacity() * size_of::<u32>();
        self.values.memory() + tables
    }

    pub fn into_values(self) -> Strings {
        self.values
    }

    /// The number of `value`, a new one if it is new.
    #[inline]
    pub fn intern(&mut self, value: &[u8]) -> usize {
        let key = Key::of(value);
        if self.is(self.last, key, value) {
            return self.last;
        }
        self.last = match self.probe(key, value) {
            Ok(id) => id,
            Err(slot) => self.add(key, value, slot),
        };
        self.last
    }

    /// Add a new string, at the end of a probe.
    #[cold]
    fn add(&mut self, key: Key, value: &[u8], mut slot: usize) -> usize {
        if (self.len() + 1) * 2 > self.slots.len() {
            self.grow();
            slot = self.probe(key, value).unwrap_or_else(|slot| slot);
        }
        self.values.push(value);
        self.keys.push(key);
        // More than 2^32 distinct strings do not fit into memory.
        self.slots[slot] = self.len() as u32;
        self.len() - 1
    }

    /// The number of `value`, if it exists.
    pub fn find(&self, value: &[u8]) -> Option<usize> {
        self.probe(Key::of(value), value).ok()
    }

    #[inline]
    fn is(&self, id: usize, key: Key, value: &[u8]) -> bool {
        self.keys.get(id) == Some(&key) && (key.is_whole() || self.get(id) == value)
    }

    /// The number of a string, or the slot that it would get.
    #[inline]
    fn probe(&self, key: Key, value: &[u8]) -> Result<usize, usize> {
        let mask = self.slots.len().wrapping_sub(1);
        let mut slot = key.hash() & mask;
        loop {
            match self.slots.get(slot).copied() {
                None | Some(0) => return Err(slot),
                Some(taken) if self.is(taken as usize - 1, key, value) => {
                    return Ok(taken as usize - 1);
                }
                Some(_) => slot = (slot + 1) & mask,
            }
        }
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(16);
        self.slots.clear();
        self.slots.resize(size, 0);
        for (id, key) in self.keys.iter().enumerate() {
            let mut slot = key.hash() & (size - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = id as u32 + 1;
        }
    }
}
