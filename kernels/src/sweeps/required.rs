//! Read a stream of partition tuples into the set of partitions that must all have a span for time to count.

use arrow_schema::ArrowError;

use super::failure::{fail, upstream};
use super::partition::Partitions;
use crate::exchange::Reader;

/// The partitions required by an intersection; they are read when the sweep begins.
pub struct Required {
    tuples: Option<Reader>,
    member: Vec<bool>,
}

impl Required {
    pub fn new(tuples: Reader) -> Self {
        Self { tuples: Some(tuples), member: Vec::new() }
    }

    /// Read the tuples at the first call, the only one that returns true.
    pub fn load(&mut self, partitions: &mut Partitions) -> Result<bool, ArrowError> {
        let Some(tuples) = self.tuples.take() else {
            return Ok(false);
        };
        let types: Vec<_> = tuples.schema().fields().iter().map(|field| field.data_type().clone()).collect();
        if types.len() != partitions.columns_len() {
            let (found, expected) = (types.len(), partitions.columns_len());
            return Err(fail(format!("the partitions to intersect have {found} columns, expected {expected}")));
        }
        partitions.check_types(&types, "intersect")?;
        for batch in tuples {
            let batch = batch.map_err(|error| upstream(&error))?;
            let codes = partitions.encode(batch.columns(), batch.num_rows())?;
            self.member.resize(partitions.len(), false);
            codes.into_iter().for_each(|code| self.member[code as usize] = true);
        }
        Ok(true)
    }

    pub fn contains(&self, code: u32) -> bool {
        self.member.get(code as usize).copied().unwrap_or(false)
    }

    /// The required partitions' codes.
    pub fn codes(&self) -> impl Iterator<Item = u32> {
        self.member.iter().enumerate().filter(|(_, member)| **member).map(|(code, _)| code as u32)
    }
}
