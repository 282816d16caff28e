//! The two inputs of a join and the layout of its output.

use arrow_array::ArrayRef;
use arrow_schema::{ArrowError, DataType, FieldRef, SchemaRef};

use super::partition::Partitions;
use super::pieces::Pieces;
use super::source::ChunkedInput;
use super::stream::{made, nullable, partitions, schema};

/// Two inputs; `a` has the partition columns. With `swapped`, `b`'s payload comes first.
pub struct Sides {
    pub a: ChunkedInput,
    pub b: ChunkedInput,
    pub partitions: Partitions,
    swapped: bool,
    fields: [Vec<FieldRef>; 2],
}

impl Sides {
    /// Checks that the inputs match and returns them with the output's schema, with `own` as its first columns.
    pub fn new(
        a: ChunkedInput,
        b: ChunkedInput,
        swapped: bool,
        own: usize,
        names: &[String],
    ) -> Result<(Self, SchemaRef), ArrowError> {
        let partitions = partitions(names, own, a.partition_types())?;
        partitions.check_types(&b.partition_types(), b.role())?;
        let fields = [a.payload_fields(), b.payload_fields()];
        let mut all: Vec<FieldRef> = (0..own).map(|_| made(DataType::Int64, false)).collect();
        all.extend(nullable(a.partition_fields()));
        let [first, second] = if swapped { [&fields[1], &fields[0]] } else { [&fields[0], &fields[1]] };
        all.extend(nullable(first.clone()));
        all.extend(nullable(second.clone()));
        let schema = schema(all, names)?;
        Ok((Self { a, b, partitions, swapped, fields }, schema))
    }

    /// Loads the next rows of either side that the sweep needs.
    pub fn fill(&mut self) -> Result<(), ArrowError> {
        self.a.fill(&mut self.partitions)?;
        self.b.fill(&mut self.partitions)
    }

    pub fn ended(&self) -> bool {
        self.a.done && self.b.done
    }

    /// The time of the next row.
    pub fn now(&self) -> i64 {
        self.a.time().min(self.b.time())
    }

    /// Turns the pieces into the columns of a batch.
    pub fn flush(&mut self, pieces: &mut Pieces) -> Result<Vec<ArrayRef>, ArrowError> {
        pieces.flush(&mut self.partitions, (&self.a, &self.fields[0]), (&self.b, &self.fields[1]), self.swapped)
    }
}
