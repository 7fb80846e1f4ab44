//! Findings that do not count.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What suppresses a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SuppressedBy {
    /// The baseline: it was found before.
    Baseline,
    /// A line of a suppression file.
    Suppression(String),
}

/// A line of a suppression file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Suppression {
    /// The line: `kind:pattern`.
    pub suppression: String,
    /// The file.
    pub file: String,
    /// The number of the line, from 1.
    pub line: usize,
    /// How many findings and failures it suppressed.
    pub used: usize,
}
