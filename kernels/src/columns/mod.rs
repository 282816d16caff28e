//! Tables built row by row, with column types inferred from their values.

mod arrays;
mod column;
mod strings;
mod table;
mod values;

pub use arrays::coded_array;
pub use column::{Kind, Traits};
pub use strings::{Interner, Key, Strings};
pub use table::{Expected, TableBuilder, column_name};
pub use values::Values;
