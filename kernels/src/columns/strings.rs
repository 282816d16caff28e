//! Byte strings one after the other, and the set of distinct ones with a number for each.

use std::hash::Hasher;

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

    #[inline]
    pub fn get(&self, index: usize) -> &[u8] {
        let start = match index.checked_sub(1) {
            Some(before) => self.ends[before],
            None => 0,
        };
        &self.data[start..self.ends[index]]
    }

    pub fn truncate(&mut self, len: usize) {
        self.ends.truncate(len);
        self.data.truncate(self.ends.last().copied().unwrap_or(0));
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|i| self.get(i))
    }

    pub fn memory(&self) -> usize {
        self.ends.capacity() * size_of::<usize>() + self.data.capacity()
    }

    pub fn is_ascii(&self) -> bool {
        self.data.is_ascii()
    }

    /// Where each string ends, and all of them one after the other.
    pub fn into_parts(self) -> (Vec<usize>, Vec<u8>) {
        (self.ends, self.data)
    }
}

/// Distinct byte strings, numbered from 0 in order of first appearance.
#[derive(Default)]
pub struct Interner {
    values: Strings,
    hashes: Vec<u64>,
    /// Open addressing: 0 is free, otherwise the number + 1; the length is a power of two.
    slots: Vec<u32>,
    last: usize,
}

/// Two words that tell a text of at most 16 bytes from all others of its length.
#[inline]
fn words(value: &[u8]) -> Option<(u64, u64)> {
    Some(match value {
        [] => (0, 0),
        [a] | [a, _] | [a, _, _] => {
            let (middle, last) = (value[value.len() / 2], value[value.len() - 1]);
            let ends = u64::from(*a) | u64::from(last) << 8;
            (ends, u64::from(middle))
        }
        _ if value.len() < 8 => (
            u64::from(u32::from_le_bytes(*value.first_chunk()?)),
            u64::from(u32::from_le_bytes(*value.last_chunk()?)),
        ),
        _ if value.len() <= 16 => (
            u64::from_le_bytes(*value.first_chunk()?),
            u64::from_le_bytes(*value.last_chunk()?),
        ),
        _ => return None,
    })
}

#[inline]
fn hash(value: &[u8]) -> u64 {
    const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
    const LAST: u64 = 0xc2b2_ae3d_27d4_eb4f;
    match words(value) {
        Some((first, last)) => {
            let first = first ^ FIRST.wrapping_add(value.len() as u64);
            let product = u128::from(first) * u128::from(last ^ LAST);
            product as u64 ^ (product >> 64) as u64
        }
        None => {
            let mut hasher = FxHasher::default();
            hasher.write(value);
            hasher.finish()
        }
    }
}

/// Whether two texts are equal, without a call where they are short, as most are.
#[inline]
fn equal(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    match (words(one), words(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
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
        if id < self.len() {
            self.values.get(id)
        } else {
            b""
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.values.iter()
    }

    pub fn memory(&self) -> usize {
        let tables =
            self.hashes.capacity() * size_of::<u64>() + self.slots.capacity() * size_of::<u32>();
        self.values.memory() + tables
    }

    pub fn into_values(self) -> Strings {
        self.values
    }

    /// The number of `value`, a new one if it was not seen before.
    #[inline]
    pub fn intern(&mut self, value: &[u8]) -> usize {
        if self.last < self.len() && equal(self.get(self.last), value) {
            return self.last;
        }
        if (self.len() + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let hash = hash(value);
        self.last = match self.probe(hash, value) {
            Ok(id) => id,
            Err(slot) => {
                self.values.push(value);
                self.hashes.push(hash);
                // More than 2^32 distinct strings do not fit into memory.
                self.slots[slot] = self.len() as u32;
                self.len() - 1
            }
        };
        self.last
    }

    /// The number of `value`, if it was seen before.
    pub fn find(&self, value: &[u8]) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        self.probe(hash(value), value).ok()
    }

    #[inline]
    fn probe(&self, hash: u64, value: &[u8]) -> Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            match self.slots[slot] {
                0 => return Err(slot),
                taken => {
                    let id = taken as usize - 1;
                    if self.hashes[id] == hash && equal(self.get(id), value) {
                        return Ok(id);
                    }
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(16);
        self.slots.clear();
        self.slots.resize(size, 0);
        for (id, hash) in self.hashes.iter().enumerate() {
            let mut slot = *hash as usize & (size - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = id as u32 + 1;
        }
    }
}
