//! Decoded metadata records -> the table of them.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, Field, Schema};

use super::decode::METADATA_COLUMNS;
use super::tables::unique_names;

/// Rename args that are called like columns of the record, drop `id` and `type` where no record has them.
///
/// `empty` tells which decoded columns are, if that is not to be seen from these rows.
pub fn finish_metadata(batches: &[RecordBatch], empty: Option<&[bool]>) -> Result<Vec<RecordBatch>, ArrowError> {
    let Some(first) = batches.first() else {
        return Ok(Vec::new());
    };
    let schema = first.schema();
    let fixed = METADATA_COLUMNS.len();
    let kept: Vec<usize> = (0..schema.fields().len())
        .filter(|index| {
            let dropped = matches!(METADATA_COLUMNS.get(*index), Some(&("id" | "type")));
            let is_empty = || match empty {
                Some(empty) => empty.get(*index).copied().unwrap_or(false),
                None => batches.iter().all(|batch| batch.column(*index).null_count() == batch.num_rows()),
            };
            !(dropped && is_empty())
        })
        .collect();
    let mut names: Vec<String> = kept
        .iter()
        .map(|index| {
            let name = schema.field(*index).name();
            let taken = METADATA_COLUMNS.contains(&name.to_lowercase().as_str());
            if *index >= fixed && taken { format!("args_{name}") } else { name.clone() }
        })
        .collect();
    unique_names(names.iter_mut());
    let fields: Vec<Field> = names
        .into_iter()
        .zip(&kept)
        .map(|(name, index)| Field::new(name, schema.field(*index).data_type().clone(), true))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    batches
        .iter()
        .map(|batch| {
            let columns: Vec<ArrayRef> = kept.iter().map(|index| Arc::clone(batch.column(*index))).collect();
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options)
        })
        .collect()
}
