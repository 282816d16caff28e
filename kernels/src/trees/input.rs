//! Read Arrow streams of integers and strings into whole columns in memory, for kernels that need all rows.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, RecordBatchReader};
use arrow_schema::{ArrowError, DataType};

use crate::exchange::Reader;
use crate::sweeps::{Partitions, Token, fail};

/// All rows of an input with int64 columns, where the last column may be a name of any type.
pub struct Rows {
    pub columns: Vec<Vec<Option<i64>>>,
    /// A code for each row's name, by order of first appearance.
    pub codes: Vec<u32>,
    pub names: Partitions,
}

impl Rows {
    /// Read `integers` integer columns, and a name if `named`.
    pub fn read(reader: Reader, integers: usize, named: bool, cancel: &Token) -> Result<Self, ArrowError> {
        let types: Vec<DataType> = reader.schema().fields().iter().map(|field| field.data_type().clone()).collect();
        let fits = types.len() == integers + usize::from(named)
            && types.iter().take(integers).all(|one| *one == DataType::Int64);
        if !fits {
            return Err(fail(format!("columns are {types:?}, expected {integers} of Int64")));
        }
        let names = types.into_iter().skip(integers).collect();
        let mut rows = Self {
            columns: vec![Vec::new(); integers],
            codes: Vec::new(),
            names: Partitions::new(&["name".to_owned()][..usize::from(named)], names)?,
        };
        for batch in reader {
            cancel.check()?;
            rows.add(batch?.columns(), integers)?;
        }
        Ok(rows)
    }

    fn add(&mut self, columns: &[ArrayRef], integers: usize) -> Result<(), ArrowError> {
        let (numbers, names) = columns.split_at(integers.min(columns.len()));
        for (all, column) in self.columns.iter_mut().zip(numbers) {
            let column = column
                .as_primitive_opt::<Int64Type>()
                .ok_or_else(|| fail("a batch differs from its stream's schema"))?;
            if column.null_count() == 0 {
                all.extend(column.values().iter().map(|&value| Some(value)));
            } else {
                all.extend(column.iter());
            }
        }
        if let [names] = names {
            self.codes.extend(self.names.encode(std::slice::from_ref(names), names.len())?);
        }
        Ok(())
    }

    /// One integer column; empty if there is none with this number.
    pub fn integers(&self, column: usize) -> &[Option<i64>] {
        self.columns.get(column).map_or(&[], Vec::as_slice)
    }
}
