//! Stacks of tokens, each distinct one stored once: as the stack below and the token on top.

use arrow_schema::ArrowError;

use super::failure::fail;

/// The empty stack.
pub const EMPTY: u32 = 0;

/// All stacks so far; a stack is a number.
pub struct Trie {
    stacks: Vec<Stack>,
    /// Stacks by hash of their parts, at most half full; `EMPTY` in free places.
    table: Vec<u32>,
    named: u32,
}

#[derive(Clone, Copy)]
struct Stack {
    below: u32,
    top: u32,
    /// The number visible to users; 0 before it is first requested.
    id: u32,
    /// The latest stack made from this one, which is often needed again.
    above: u32,
}

const FIRST_SIZE: usize = 1 << 10;

impl Default for Trie {
    fn default() -> Self {
        let bottom = Stack { below: EMPTY, top: 0, id: 0, above: EMPTY };
        Self { stacks: vec![bottom], table: vec![EMPTY; FIRST_SIZE], named: 0 }
    }
}

impl Trie {
    /// The stack with a token on top of another stack.
    #[inline]
    pub fn push(&mut self, below: u32, top: u32) -> Result<u32, ArrowError> {
        let above = self.stacks[below as usize].above;
        if above != EMPTY && self.stacks[above as usize].top == top {
            return Ok(above);
        }
        let mut place = place(below, top, self.table.len());
        loop {
            let found = self.table[place];
            if found == EMPTY {
                break;
            }
            let stack = &self.stacks[found as usize];
            if stack.below == below && stack.top == top {
                self.stacks[below as usize].above = found;
                return Ok(found);
            }
            place = (place + 1) & (self.table.len() - 1);
        }
        self.add(below, top, place)
    }

    fn add(&mut self, below: u32, top: u32, place: usize) -> Result<u32, ArrowError> {
        let fresh = u32::try_from(self.stacks.len()).map_err(|_| fail("more distinct stacks than can be numbered"))?;
        self.stacks[below as usize].above = fresh;
        self.stacks.push(Stack { below, top, id: 0, above: EMPTY });
        self.table[place] = fresh;
        if self.stacks.len() * 2 > self.table.len() {
            self.grow();
        }
        Ok(fresh)
    }

    fn grow(&mut self) {
        let size = self.table.len() * 4;
        let mut table = vec![EMPTY; size];
        for (number, stack) in self.stacks.iter().enumerate().skip(1) {
            let mut place = place(stack.below, stack.top, size);
            while table[place] != EMPTY {
                place = (place + 1) & (size - 1);
            }
            table[place] = number as u32;
        }
        self.table = table;
    }

    /// The stack without its top; None for the empty one.
    #[inline]
    pub fn pop(&self, stack: u32) -> Option<u32> {
        (stack != EMPTY).then(|| self.stacks[stack as usize].below)
    }

    /// The number visible to users: from 1, in the order of first request.
    #[inline]
    pub fn id(&mut self, stack: u32) -> i64 {
        let id = &mut self.stacks[stack as usize].id;
        if *id == 0 {
            self.named += 1;
            *id = self.named;
        }
        i64::from(*id)
    }

    /// The stacks that have an id, in its order.
    pub fn named(&self) -> Vec<u32> {
        let mut named = vec![EMPTY; self.named as usize];
        for (number, stack) in self.stacks.iter().enumerate().filter(|(_, s)| s.id > 0) {
            named[stack.id as usize - 1] = number as u32;
        }
        named
    }

    /// Append the tokens of a stack, bottom first.
    pub fn tokens(&self, stack: u32, out: &mut Vec<u32>) {
        let (first, mut at) = (out.len(), stack);
        while let Some(below) = self.pop(at) {
            out.push(self.stacks[at as usize].top);
            at = below;
        }
        out[first..].reverse();
    }
}

/// The first place to look for a stack in a table with a size that is a power of two.
#[inline]
fn place(below: u32, top: u32, size: usize) -> usize {
    let mixed = (u64::from(below) << 32 | u64::from(top)).wrapping_mul(0xf135_7aea_2e62_a9c5);
    ((mixed ^ mixed >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (size - 1)
}
