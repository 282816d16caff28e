//! Build the table of metadata records from the decoded ones.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, Field, Schema};

use super::decode::METADATA_COLUMNS;
use super::tables::unique_names;

/// Rename args that have names of columns of the record, drop `id` and `type` if no record of the trace has them.
///
/// `empty` marks the decoded columns without values.
pub fn finish_metadata(batch: &RecordBatch, empty: &[bool]) -> Result<RecordBatch, ArrowError> {
    let fixed = METADATA_COLUMNS.len();
    let (mut names, mut arrays): (Vec<String>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for (index, (field, array)) in batch.schema().fields().iter().zip(batch.columns()).enumerate() {
        let name = field.name();
        if index < fixed && matches!(name.as_str(), "id" | "type") && empty.get(index).copied().unwrap_or(false) {
            continue;
        }
        let taken = METADATA_COLUMNS.contains(&name.to_lowercase().as_str());
        names.push(if index >= fixed && taken { format!("args_{name}") } else { name.clone() });
        arrays.push(Arc::clone(array));
    }
    unique_names(names.iter_mut());
    let fields = names.into_iter().zip(&arrays).map(|(name, array)| Field::new(name, array.data_type().clone(), true));
    let schema = Schema::new(fields.collect::<Vec<_>>());
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(schema), arrays, &options)
}
