//! One pass over the blocks of a trace: read in order, decoded ahead on threads, output in order, in bounded memory.

mod ahead;
mod running;
mod spare;

pub use ahead::Ahead;
pub use running::{Progress, Running};
pub use spare::Spare;
