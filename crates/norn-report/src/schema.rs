//! The JSON Schema of reports, made from their types.

use schemars::SchemaGenerator;

use crate::{Line, Report};

/// The schema of the JSON form. The lines of a stream are the definition `Line`.
pub fn schema() -> serde_json::Value {
    let mut generator = SchemaGenerator::default();
    generator.subschema_for::<Line>();
    generator.into_root_schema_for::<Report>().to_value()
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
