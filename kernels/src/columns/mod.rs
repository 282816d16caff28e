//! Tables built row by row, whose column types are found from the values they are given.

mod column;
mod strings;
mod table;
mod unify;

pub use column::{Kind, Traits};
pub use strings::{Interner, Key, Strings};
pub use table::{Expected, TableBuilder};
pub use unify::{coded_arrays, string_array, unify};
