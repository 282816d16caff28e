//! Decode traces in CTF, the Common Trace Format: packets of bits, laid out by their metadata, become rows.

mod bits;
mod clock;
mod layout;
mod merge;
mod metadata;
mod out;
mod start;
mod stream;
mod tables;
mod texts;
mod trace;
mod walk;
mod window;

pub use start::register;
