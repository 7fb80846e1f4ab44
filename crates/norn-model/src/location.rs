//! A location in the source of a program, as structured data.
//!
//! Libraries pass locations on unchanged; only the writers of reports format them. A field is
//! missing if the debug information does not have it, or if the language has no such concept: for a
//! Java program the module is the jar or the class path entry.

use serde::{Deserialize, Serialize};

/// A location in the source of a program, as far as known.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Location {
    /// The function, demangled, with its template arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The source file, with its folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The program or library that the code belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// The offset of the code in the module, where neither function nor file are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}

impl Location {
    /// Whether all fields are unknown.
    pub fn is_unknown(&self) -> bool {
        *self == Location::default()
    }

    /// The name of the source file without its folders.
    pub fn file_name(&self) -> Option<&str> {
        let file = self.file.as_deref()?;
        file.rsplit('/').next()
    }

    /// Whether both are the same line of the same function, wherever source and program are stored.
    pub fn is_same_line(&self, other: &Location) -> bool {
        let known =
            |it: &Location| (it.function.clone(), it.file_name().map(str::to_owned), it.line);
        known(self) == known(other)
    }
}
