//! Tables built row by row, whose column types are found from the values they are given.

mod column;
mod finish;
mod strings;
mod table;

pub use column::{Kind, Traits};
pub use finish::{coded_array, string_array};
pub use strings::{Interner, Key, Strings};
pub use table::{Expected, TableBuilder};
