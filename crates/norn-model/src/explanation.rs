//! Explanations of the names that reports use.

/// The explanation of a name in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The name.
    pub name: &'static str,
    /// A short description.
    pub summary: &'static str,
    /// The meaning.
    pub meaning: &'static str,
    /// A few lines of C, of output, or of an interleaving.
    pub example: &'static str,
    /// How to deal with it.
    pub advice: &'static str,
}
