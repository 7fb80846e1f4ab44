//! The JSON Schema of reports, made from their types.

use crate::Report;

/// The schema of the JSON form.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Report).to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_schema_is_that_of_the_types() {
        let published = include_str!("../../../docs/report.schema.json");
        assert!(published == format!("{:#}\n", schema()), "run `cargo xtask schema`");
    }
}
