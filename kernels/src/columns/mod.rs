//! Tables built row by row, with column types inferred from their values.

mod column;
mod finish;
mod strings;
mod table;
mod values;

pub use column::{Kind, Traits};
pub use finish::coded_array;
pub use strings::{Interner, Key, Strings};
pub use table::{Expected, TableBuilder};
pub use values::Values;
