//! The published JSON Schema of reports.

use std::fs;

use anyhow::{Context as _, Result};

use crate::workspace::{cargo, output, root};

/// Writes docs/report.schema.json from the types of `norn-report`.
pub(crate) fn run() -> Result<()> {
    let path = root().join("docs/report.schema.json");
    let arguments = ["run", "--quiet", "-p", "norn-report", "--example", "schema"];
    let schema = output(&mut cargo(&arguments))?;
    fs::write(&path, schema).with_context(|| format!("cannot write {}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}
