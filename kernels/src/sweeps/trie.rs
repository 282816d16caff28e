//! Stacks of tokens, each distinct one stored once: as the stack below and the token on top.

use arrow_schema::ArrowError;
use rustc_hash::FxHashMap;

use super::failure::fail;

/// The empty stack.
pub const EMPTY: u32 = 0;

/// All stacks that have been met; a stack is a number.
pub struct Trie {
    below: Vec<u32>,
    top: Vec<u32>,
    ids: Vec<u32>,
    above: FxHashMap<u64, u32>,
    named: u32,
}

impl Default for Trie {
    fn default() -> Self {
        Self {
            below: vec![EMPTY],
            top: vec![0],
            ids: vec![0],
            above: FxHashMap::default(),
            named: 0,
        }
    }
}

impl Trie {
    /// The stack with a token on top of another stack.
    #[inline]
    pub fn push(&mut self, stack: u32, token: u32) -> Result<u32, ArrowError> {
        let fresh = self.below.len();
        let found = *self
            .above
            .entry(u64::from(stack) << 32 | u64::from(token))
            .or_insert(fresh as u32);
        if found as usize == fresh {
            if fresh >= u32::MAX as usize {
                return Err(fail("more distinct stacks than can be numbered"));
            }
            self.below.push(stack);
            self.top.push(token);
            self.ids.push(0);
        }
        Ok(found)
    }

    /// The stack without its top; None for the empty one.
    #[inline]
    pub fn pop(&self, stack: u32) -> Option<u32> {
        (stack != EMPTY).then(|| self.below[stack as usize])
    }

    /// The number that users see: from 1, in the order in which this is asked for.
    #[inline]
    pub fn id(&mut self, stack: u32) -> i64 {
        let id = &mut self.ids[stack as usize];
        if *id == 0 {
            self.named += 1;
            *id = self.named;
        }
        i64::from(*id)
    }

    /// The stacks that have an id, in its order.
    pub fn named(&self) -> Vec<u32> {
        let mut stacks = vec![EMPTY; self.named as usize];
        for (stack, &id) in self.ids.iter().enumerate().filter(|(_, id)| **id > 0) {
            stacks[id as usize - 1] = stack as u32;
        }
        stacks
    }

    /// Appends the tokens of a stack, bottom first.
    pub fn tokens(&self, stack: u32, out: &mut Vec<u32>) {
        let (first, mut at) = (out.len(), stack);
        while let Some(below) = self.pop(at) {
            out.push(self.top[at as usize]);
            at = below;
        }
        out[first..].reverse();
    }
}
