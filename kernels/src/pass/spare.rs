//! Memory of decoded blocks, reused for the next ones.

use std::sync::{Mutex, PoisonError};

/// Free buffers.
#[derive(Default)]
pub struct Spare(Mutex<Vec<Vec<u8>>>);

impl Spare {
    /// An empty buffer, with the memory of an old one if there is one.
    pub fn take(&self) -> Vec<u8> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.pop().unwrap_or_default()
    }

    /// Return a buffer.
    pub fn give(&self, mut buffer: Vec<u8>) {
        buffer.clear();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(buffer);
    }
}
