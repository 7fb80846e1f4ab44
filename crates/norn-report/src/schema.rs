//! The JSON Schema of reports, made from their types.

use crate::Report;

/// The schema of the JSON form.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Report).to_value()
}
